package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/job"
)

// hidden is how the folder of a run that is being removed begins its name, so that it is no run's.
const hidden = ".removed-"

// highest returns the path of the file that keeps the highest number of a run that was removed.
func (h Home) highest() string { return filepath.Join(h.Runs(), ".highest") }

// highestRemoved returns the highest number of a run that was removed, 0 where none was. The
// runs' lock is held.
func (h Home) highestRemoved() (int, error) {
	n := 0
	err := ReadJSON(h.highest(), &n)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// Reserve sees to it that the number of a run which is about to be removed is not given
// again: nodes, allocations and the user's own notes may still name it.
func (h Home) Reserve(id job.ID) error {
	unlock, err := lockFile(h.runsLock())
	if err != nil {
		return err
	}
	defer unlock()
	n, err := h.highestRemoved()
	if err != nil || RunNumber(id) <= n {
		return err
	}
	return WriteJSON(h.highest(), RunNumber(id))
}

// Hide makes a run's folder one that is not a run's any more, in one step. RemoveHidden
// removes it.
func (h Home) Hide(id job.ID) error {
	r := h.Run(id)
	if err := os.Rename(r.Dir, filepath.Join(h.Runs(), hidden+string(id))); err != nil {
		return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: r.Dir, What: "the run's folder cannot be removed", Err: err}
	}
	return nil
}

// RemoveHidden removes what Hide has hidden, also in an earlier life.
func (h Home) RemoveHidden() error {
	dir, err := os.ReadDir(h.Runs())
	if err != nil {
		return ReadError(h.Runs(), err)
	}
	var errs []error
	for _, d := range dir {
		if strings.HasPrefix(d.Name(), hidden) {
			errs = append(errs, os.RemoveAll(filepath.Join(h.Runs(), d.Name())))
		}
	}
	return errors.Join(errs...)
}
