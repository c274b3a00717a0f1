package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// maxName is how much of an output's name is repeated in the name of its part, bytes. Names have at
// most nameMax bytes (NAME_MAX of Linux).
const (
	maxName = 180
	nameMax = 255
)

// Output is a file that a task writes under a temporary name until it is committed. The name
// belongs to one attempt, and the file is always new. A process of an earlier attempt, or of a
// cancelled job, may still write to the file that it has open, and none of that gets into this
// file.
type Output struct {
	FD          int      // open for appending until Close is called, then -1
	path        string   // final path; empty: there is nothing to rename
	part        string   // path of the temporary file
	capture     *capture // takes what is written instead; nil: the file does
	unlessEmpty bool     // an empty file is not put into place
	Bytes       int64    // set by Close
	dev         uint64   // with ino the identity of the file, set by Close
	ino         uint64
}

// openOutput creates the file that a task writes for path. It is in the same folder, so that the
// commit is one rename. Parent folders are created.
func openOutput(path string, at job.Attempt) (*Output, error) {
	if isDevice(path) {
		if path == job.Discard {
			path = os.DevNull
		}
		fd, err := open(path, unix.O_WRONLY|unix.O_APPEND)
		if err != nil {
			return nil, process.OutputError(path, err)
		}
		return &Output{FD: fd}, nil
	}
	if len(filepath.Base(path)) > nameMax { // the name of its part is shorter, and so the task would run before that is noticed
		return nil, process.OutputError(path, unix.ENAMETOOLONG)
	}
	return createOutput(path, partName(path, at))
}

// createOutput creates the temporary file part for path, with the folder in which it is.
func createOutput(path, part string) (*Output, error) {
	fd, err := create(part)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(part), 0o777); err == nil {
			fd, err = create(part)
		}
	}
	if err != nil {
		return nil, process.OutputError(path, err)
	}
	return &Output{FD: fd, path: path, part: part}, nil
}

// openReader opens a FIFO that another process reads. Commit does nothing for it.
func openReader(fifo string) (*Output, error) {
	fd, err := open(fifo, unix.O_WRONLY|unix.O_NONBLOCK) // fails if no process reads the FIFO
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		_ = unix.Close(fd) // nothing was written
		return nil, err
	}
	return &Output{FD: fd}, nil
}

// createTries is how often an existing file of this name is removed before create gives up.
const createTries = 3

// create creates a new file for appending. An existing file of this name, which an attempt left
// whose record was lost in a power failure, is unlinked and not written to.
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

// partName returns the temporary name in which an attempt of a task writes the output for path. It
// includes the job, because two jobs may write to one path, the second after the first was
// cancelled. The rest of a long name is there as its hash, because both streams of a task may have long names.
func partName(path string, at job.Attempt) string {
	dir, base := filepath.Split(path)
	if len(base) > maxName {
		base = fmt.Sprintf("%s%016x", base[:maxName-16], Hash(base))
	}
	return fmt.Sprintf("%s.%s.%s.%d.%d.part", dir, base, at.Job, at.Task, at.N)
}

// Close closes the file. It fails if the file system lost data that was written before. If something removed the name of
// the file meanwhile, as git clean does, Close writes it again.
func (a *Output) Close() error {
	var st unix.Stat_t
	if (a.path != "" || a.capture != nil) && unix.Fstat(a.FD, &st) == nil {
		a.Bytes, a.dev, a.ino = st.Size, st.Dev, st.Ino
		if a.path != "" && st.Nlink == 0 && unix.Lstat(a.part, &st) == unix.ENOENT {
			return a.rewrite()
		}
	}
	return a.close()
}

// rewrite copies what was written to a new file of the same name, and closes both.
func (a *Output) rewrite() error {
	defer unix.Close(a.FD) //nolint:errcheck // its file has no name
	old, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", a.FD))
	if err != nil {
		return process.OutputError(a.path, err)
	}
	defer old.Close() // only read
	again, err := createOutput(a.path, a.part)
	if err != nil {
		return err
	}
	_, err = io.Copy(again, old)
	err = errors.Join(process.OutputError(a.path, err), again.Close())
	a.FD, a.Bytes, a.dev, a.ino = -1, again.Bytes, again.dev, again.ino
	return err
}

func (a *Output) close() error {
	err := unix.Close(a.FD)
	a.FD = -1
	if a.capture != nil {
		return err // of the disk of this machine
	}
	return process.OutputError(a.path, err)
}

// Write appends all of p.
func (a *Output) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := unix.Write(a.FD, p[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		n += m
	}
	return n, nil
}

// Name returns the final path of the output, or "" if it has none.
func (a *Output) Name() string { return a.path }

// File returns the path under which what was written can be read before the commit, or "" for a device.
func (a *Output) File() string {
	if a.capture != nil {
		return a.capture.name()
	}
	return a.part
}

// tail returns the last lines that were written.
func (a *Output) tail() string {
	switch {
	case a.capture != nil:
		return process.TailAt(a.capture, a.capture.size())
	case a.part != "":
		return process.TailOf(a.part)
	default:
		return ""
	}
}

// errReplaced means that the temporary name leads to another file.
var errReplaced = errors.New("another process replaced the file that the task wrote")

// own returns nil if the temporary name leads to the file that this attempt wrote.
func (a *Output) own() error {
	var st unix.Stat_t
	if err := unix.Lstat(a.part, &st); err != nil {
		return err
	}
	if st.Dev != a.dev || st.Ino != a.ino {
		return errReplaced
	}
	return nil
}

// Commit renames the file to its final name. It refuses a file that another process put under the
// temporary name.
func (a *Output) Commit() error {
	if a.path == "" {
		return nil
	}
	if err := a.own(); err != nil {
		return process.OutputError(a.path, err)
	}
	if a.unlessEmpty && a.Bytes == 0 {
		return process.OutputError(a.path, a.remove())
	}
	return process.OutputError(a.path, unix.Rename(a.part, a.path))
}

// keep leaves the file under its temporary name, for a job that may not put it into place. It removes an empty one, and returns false.
func (a *Output) keep() bool {
	kept := a.own() == nil && a.Bytes > 0
	if !kept {
		a.Drop()
	}
	a.path = "" // nothing is in place, and Drop leaves it
	return kept
}

// remove removes the file, and the one that an earlier attempt put into place.
func (a *Output) remove() error {
	err := unix.Unlink(a.path)
	if err == unix.ENOENT {
		err = nil
	}
	path := a.part
	a.path = "" // nothing is in place
	return errors.Join(err, unix.Unlink(path))
}

// Drop closes the file if it is open, and removes it.
func (a *Output) Drop() {
	if a.FD >= 0 {
		_ = a.Close() // what was written is not needed
	}
	if a.path != "" && a.own() == nil {
		_ = unix.Unlink(a.part) // the file is hidden, so one that cannot be removed does no harm
	}
}

// Ahead is how many attempts after the successful one may have left files: no task has more
// attempts at the same time.
const Ahead = 2
