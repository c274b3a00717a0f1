package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// hidden is the prefix of the name of a run's folder that is being removed. No run has such a name.
const hidden = ".removed-"

// highest returns the path of the file that contains the highest number of a removed run.
func (h Home) highest() string { return filepath.Join(h.Runs(), ".highest") }

// highestRemoved returns the highest number of a removed run, or 0 if none was removed. The
// caller has locked runsLock.
func (h Home) highestRemoved() (int, error) {
	n := 0
	err := ReadJSON(h.highest(), &n)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// Reserve prevents the number of a run that is about to be removed from being used again:
// nodes, allocations and the user's notes may still name it.
func (h Home) Reserve(id job.ID) error {
	lock, err := flock(h.runsLock(), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close() // lets go of the lock
	n, err := h.highestRemoved()
	if err != nil || RunNumber(id) <= n {
		return err
	}
	return WriteJSON(h.highest(), RunNumber(id))
}

// Remove removes a run that no coordinator has accepted. Its number is not given again: the command that has submitted it
// may still run, and would take the next job of that number for its own.
func (h Home) Remove(id job.ID) error {
	err := h.Reserve(id)
	if hid := h.Hide(id); !errors.Is(hid, fs.ErrNotExist) {
		err = errors.Join(err, hid)
	}
	return errors.Join(err, h.RemoveHidden())
}

// Hide renames a run's folder, so that in one step the run exists no more. RemoveHidden
// removes the folder.
func (h Home) Hide(id job.ID) error {
	r := h.Run(id)
	if err := os.Rename(r.Dir, filepath.Join(h.Runs(), hidden+string(id))); err != nil {
		return job.IOError(job.Fatal, r.Dir, "the run's folder cannot be removed", err)
	}
	return nil
}

// RemoveHidden removes the folders that Hide has renamed, those of earlier coordinators too.
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
