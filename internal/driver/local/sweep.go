package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// Sweep ends the workers of allocations that nobody knows any more, and removes
// their folders: those whose journal was lost, or whose release a coordinator did
// not live to see through. dir is the driver's folder, known are the allocations
// that are not over.
func Sweep(dir string, known []job.AllocID) error {
	folders, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: "cannot list the allocations", Err: err}
	}
	var errs []error
	for _, f := range folders {
		a := &alloc{id: job.AllocID(f.Name()), dir: filepath.Join(dir, f.Name())}
		if slices.Contains(known, a.id) {
			continue
		}
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

// ranks returns the ranks for which the allocation's folder has a process id.
func (a *alloc) ranks() []int {
	files, _ := os.ReadDir(a.dir) // without it there is none
	var ranks []int
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), ".pid")
		if rank, err := strconv.Atoi(name); is && err == nil {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}
