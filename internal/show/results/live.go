package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

// leftTime is the longest wait for the rest of the output when the job is over: a process that a task left behind may
// keep its output open for ever.
const leftTime = time.Second

// Live copies what the tasks of a bag write while they write it (job.BagSpec.Ungroup).
type Live struct {
	fifos []*os.File // read
	held  []*os.File // the same, open for writing: otherwise the end of the first task would be the end of the file
	done  sync.WaitGroup
	err   [2]error // errors of copying
}

// OpenLive starts to copy what the tasks of a run write. It must be called before the first of them starts.
func OpenLive(r statedir.Run, stdout, stderr io.Writer) (*Live, error) {
	l := &Live{}
	for i, name := range []string{job.LiveStdout, job.LiveStderr} {
		if err := l.open(filepath.Join(r.Dir, name)); err != nil {
			return nil, errors.Join(fmt.Errorf("make a way for the output of tasks: %w", err), l.Close())
		}
		to, from := []io.Writer{stdout, stderr}[i], l.fifos[i]
		l.done.Go(func() {
			if _, err := io.Copy(to, from); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
				l.err[i] = writeError(err)
			}
		})
	}
	return l, nil
}

func (l *Live) open(path string) error {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return err
	}
	in, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // opening does not wait for a writer
	if err != nil {
		return err
	}
	l.fifos = append(l.fifos, in)
	held, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		l.held = append(l.held, held)
	}
	return err
}

// Close copies the rest of the output when the job is over.
func (l *Live) Close() error {
	var errs []error
	for _, f := range l.held {
		errs = append(errs, f.Close())
	}
	for _, f := range l.fifos {
		errs = append(errs, f.SetReadDeadline(time.Now().Add(leftTime)))
	}
	l.done.Wait()
	for _, f := range l.fifos {
		errs = append(errs, os.Remove(f.Name()), f.Close())
	}
	return errors.Join(append(errs, l.err[:]...)...)
}
