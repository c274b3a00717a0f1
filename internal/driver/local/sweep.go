package local

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
		for _, rank := range a.ranks() {
			if pid, fd, alive := a.find(rank); alive {
				_ = unix.Close(fd)
				terminate(pid)
			}
		}
		errs = append(errs, a.remove())
	}
	return errors.Join(errs...)
}

// ranks returns the ranks with a file for the process id in the allocation's folder.
func (a *alloc) ranks() []int {
	files, _ := os.ReadDir(a.dir) // without the folder there are no ranks
	var ranks []int
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), pidEnd)
		if rank, err := strconv.Atoi(name); is && err == nil {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
