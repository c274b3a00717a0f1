package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/disk"
	"berth/internal/job"
)

// Parts is a folder of notes on where attempts have folders beside what they work on. When a worker is killed the next one of
// its node finds them there, and removes them.
type Parts struct{ Root string }

func (p Parts) note(at job.Attempt) string {
	return filepath.Join(p.Root, fmt.Sprintf("%s.%d.%d", at.Job, at.Task, at.N))
}

// Note notes a folder, before it is made. A link is a note that is there whole or not at all.
func (p Parts) Note(at job.Attempt, folder string) error {
	err := os.Symlink(folder, p.note(at))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(p.Root, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = os.Symlink(folder, p.note(at))
		}
	}
	if errors.Is(err, fs.ErrExist) { // the attempt's number was given twice, as its record was lost; so was its folder's
		return nil
	}
	return err
}

// Forget drops the note on a folder that was removed.
func (p Parts) Forget(at job.Attempt) { _ = os.Remove(p.note(at)) } // one that stays is on a folder that is no more

// Clear removes all folders that are noted. It is called when nothing runs in them any more.
func (p Parts) Clear() {
	notes, err := os.ReadDir(p.Root)
	if err != nil {
		return // nothing was noted
	}
	for _, n := range notes {
		folder, err := os.Readlink(filepath.Join(p.Root, n.Name()))
		if err == nil && IsPart(filepath.Base(folder)) {
			_ = disk.RemoveTree(folder) // it is hidden, and the user's to remove where we cannot
		}
	}
}
