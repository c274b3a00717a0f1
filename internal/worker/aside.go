package worker

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

// aside is a file that a task writes, under another name until it is committed.
type aside struct {
	fd    int
	path  string // where it goes; empty: it is written in place, or nowhere
	part  string // where it is
	bytes int64  // when it was closed
}

// openAside makes the file that a task writes for path, in the same folder, so
// that the commit is one rename. Parent folders are made.
func openAside(path string, at job.Attempt) (aside, error) {
	if path == job.Discard {
		path = os.DevNull
	}
	if strings.HasPrefix(path, "/dev/") { // a device is written, never replaced
		fd, err := open(path, unix.O_WRONLY|unix.O_APPEND)
		return aside{fd: fd}, outputError(path, err)
	}
	a := aside{path: path, part: partName(path, at, at.N)}
	var err error
	a.fd, err = open(a.part, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			a.fd, err = open(a.part, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_APPEND)
		}
	}
	return a, outputError(path, err)
}

func open(path string, flags int) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o666)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// partName is where attempt n of a task writes the output that goes to path.
func partName(path string, at job.Attempt, n int) string {
	dir, base := filepath.Split(path)
	if len(base) > maxName {
		base = fmt.Sprintf("%s.%d", base[:maxName], at.Task)
	}
	return fmt.Sprintf("%s.%s.%d.part", dir, base, n)
}

// close ends the writing. It fails where the file system lost what was written before.
func (a *aside) close() error {
	var st unix.Stat_t
	if a.path != "" && unix.Fstat(a.fd, &st) == nil {
		a.bytes = st.Size
	}
	return outputError(a.path, unix.Close(a.fd))
}

// commit puts the file into place.
func (a *aside) commit() error {
	if a.path == "" {
		return nil
	}
	return outputError(a.path, unix.Rename(a.part, a.path))
}

// drop removes the file.
func (a *aside) drop() {
	if a.path != "" {
		_ = unix.Unlink(a.part) // nobody reads it; it is hidden
	}
}

// dropEarlier removes what earlier attempts of the task left where they were lost.
func (a *aside) dropEarlier(at job.Attempt) {
	for n := 1; n < at.N && a.path != ""; n++ {
		_ = unix.Unlink(partName(a.path, at, n)) // mostly there is none
	}
}

// outputError says which output failed, and what to do where that is known.
func outputError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return broken("output %s cannot be written: %v; make room there", path, err)
	case ofMachine(err):
		return broken("output %s cannot be written: %v", path, err)
	default:
		return failed("output %s cannot be written: %v", path, err)
	}
}
