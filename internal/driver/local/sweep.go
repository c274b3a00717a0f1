package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Sweep ends the workers of allocations that are not among known, and removes their
// folders: their journal was lost, or a coordinator ended before it had released
// them. dir is the driver's folder. known are the allocations that have not ended.
func Sweep(dir string, known []job.AllocID) error {
	ids, err := driver.Unknown(dir, known)
	errs := []error{err}
	for _, id := range ids {
		a := &alloc{id: id, dir: filepath.Join(dir, string(id))}
		pids, _ := fs.Glob(os.DirFS(a.dir), "*"+pidEnd) // the pattern is right
		for _, name := range pids {
			if pid, fd, alive := find(filepath.Join(a.dir, name)); alive {
				_ = unix.Close(fd)
				terminate(pid)
			}
		}
		errs = append(errs, a.remove())
	}
	return errors.Join(errs...)
}
