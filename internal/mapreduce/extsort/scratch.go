package extsort

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"berth/internal/core/job"
)

// ScratchError returns the error for a scratch file that cannot be written. A full disk has its own
// message.
func ScratchError(path string, err error) error {
	dir := filepath.Dir(path)
	e := job.IOError(job.Transient, path, "cannot be written", err)
	var cause *fs.PathError
	if errors.As(err, &cause) {
		e.Err = cause.Err // Where says the path already
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		e.Class, e.Where = job.Fatal, ""
		e.What = "no space left in scratch folder " + dir
		e.Do = "free space there, or name another folder with --scratch"
	}
	return e
}
