package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// Parts is a folder of notes. Each note names a folder that an attempt has in the job's folder.
// After a worker was killed, the next worker of its node removes the noted folders.
type Parts struct{ Root string }

func (p Parts) note(at job.Attempt) string {
	return filepath.Join(p.Root, fmt.Sprintf("%s.%d.%d", at.Job, at.Task, at.N))
}

// Note writes the note for a folder, before the folder is created. The note is a symbolic link,
// because a link is created atomically.
func (p Parts) Note(at job.Attempt, folder string) error {
	err := os.Symlink(folder, p.note(at))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(p.Root, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = os.Symlink(folder, p.note(at))
		}
	}
	if errors.Is(err, fs.ErrExist) { // the number of the attempt was used twice, because its record was lost; both have the same folder
		return nil
	}
	return err
}

// Forget removes the note for a folder that was removed.
func (p Parts) Forget(at job.Attempt) { _ = os.Remove(p.note(at)) } // a note that stays names a folder that no longer exists

// Clear removes all noted folders. The caller ensures that no attempt runs in them.
func (p Parts) Clear() {
	notes, err := os.ReadDir(p.Root)
	if err != nil {
		return // there are no notes
	}
	for _, n := range notes {
		folder, err := os.Readlink(filepath.Join(p.Root, n.Name()))
		if err == nil && IsPart(filepath.Base(folder)) {
			_ = disk.RemoveTree(folder) // the folder is hidden; if it cannot be removed here, the user can remove it
		}
	}
}
