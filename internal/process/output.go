package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// maxName is how much of an output's name is repeated in that of its part: names
// have at most 255 bytes (NAME_MAX).
const maxName = 180

// Output is a file that a task writes, under another name until it is committed. The
// name is the attempt's own and the file is always a new one: a process of an earlier
// attempt, or of a job that was cancelled, writes on to the file that it has open, and
// nothing of that gets into this one.
type Output struct {
	FD    int    // open for appending until it is closed
	path  string // where it goes; empty: it is written in place, or nowhere
	Part  string // where it is
	Bytes int64  // when it was closed
	dev   uint64 // with ino the file's identity, known when it was closed
	ino   uint64
}

// OpenOutput makes the file that a task writes for path, in the same folder, so
// that the commit is one rename. Parent folders are made.
func OpenOutput(path string, at job.Attempt) (Output, error) {
	if path == job.Discard {
		path = os.DevNull
	}
	if strings.HasPrefix(path, "/dev/") { // a device is written, never replaced
		fd, err := open(path, unix.O_WRONLY|unix.O_APPEND)
		return Output{FD: fd}, OutputError(path, err)
	}
	a := Output{path: path, Part: partName(path, at, at.N)}
	var err error
	a.FD, err = create(a.Part)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			a.FD, err = create(a.Part)
		}
	}
	return a, OutputError(path, err)
}

// OpenReader opens a FIFO that somebody reads. What is written to it has no place, so a commit does nothing.
func OpenReader(fifo string) (Output, error) {
	fd, err := open(fifo, unix.O_WRONLY|unix.O_NONBLOCK) // fails where nobody reads
	if err != nil {
		return Output{}, err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd) // nothing was written
		return Output{}, err
	}
	return Output{FD: fd}, nil
}

// createTries bounds how often a name is freed that is taken again at once.
const createTries = 3

// create makes a new file for appending. What has the name already, left by an attempt
// whose record was lost with the machine's power, loses it and is not written to.
func create(path string) (fd int, err error) {
	for range createTries {
		fd, err = open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_APPEND)
		if err != unix.EEXIST || unix.Unlink(path) != nil {
			break
		}
	}
	return fd, err
}

func open(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o666)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// partName is where attempt n of a task writes the output that goes to path. It names
// the job as well: two jobs may write to one path, the second after the first was cancelled.
func partName(path string, at job.Attempt, n int) string {
	dir, base := filepath.Split(path)
	if len(base) > maxName {
		base = base[:maxName]
	}
	return fmt.Sprintf("%s.%s.%s.%d.%d.part", dir, base, at.Job, at.Task, n)
}

// Close ends the writing. It fails where the file system lost what was written before.
func (a *Output) Close() error {
	var st unix.Stat_t
	if a.path != "" && unix.Fstat(a.FD, &st) == nil {
		a.Bytes, a.dev, a.ino = st.Size, st.Dev, st.Ino
	}
	return OutputError(a.path, unix.Close(a.FD))
}

// errReplaced is that the name of an attempt's part leads to another file.
var errReplaced = errors.New("another process replaced the file that the task wrote")

// own returns nil while the part's name leads to the file that this attempt wrote.
func (a *Output) own() error {
	var st unix.Stat_t
	if err := unix.Lstat(a.Part, &st); err != nil {
		return err
	}
	if st.Dev != a.dev || st.Ino != a.ino {
		return errReplaced
	}
	return nil
}

// Commit puts the file into place, never one that another process put under its name.
func (a *Output) Commit() error {
	if a.path == "" {
		return nil
	}
	if err := a.own(); err != nil {
		return OutputError(a.path, err)
	}
	return OutputError(a.path, unix.Rename(a.Part, a.path))
}

// Drop removes the file.
func (a *Output) Drop() {
	if a.path != "" && a.own() == nil {
		_ = unix.Unlink(a.Part) // nobody reads it; it is hidden
	}
}

// Ahead is how many later attempts than the one that is done may have left something: no task has more attempts at once.
const Ahead = 2

// DropOthers removes what the task's other attempts, up to that number, have where they wrote this output. None of them lives,
// or none is wanted any more.
func (a *Output) DropOthers(at job.Attempt, last int) {
	for n := 1; n <= last && a.path != ""; n++ {
		if n != at.N {
			_ = unix.Unlink(partName(a.path, at, n)) // mostly there is none
		}
	}
}

// OutputError says which output failed, and what to do where that is known.
func OutputError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case scarce(err):
		return lack(err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return Broken("output %s cannot be written: %v; make room there", path, err)
	case OfMachine(err):
		return Broken("output %s cannot be written: %v", path, err)
	default:
		return Failed("output %s cannot be written: %v", path, err)
	}
}
