package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// Parts is a folder of notes. Each note names an uncommitted file of an attempt, or its folder in the job's folder.
// After a worker was killed, the next worker of its node removes what is noted.
type Parts struct{ Root string }

// note returns the path of a note. what is Stdout, Stderr, or "" for its folder.
func (p Parts) note(at job.Attempt, what string) string {
	return filepath.Join(p.Root, fmt.Sprintf("%s.%d.%d%s", at.Job, at.Task, at.N, strings.Replace(what, "//", ".", 1)))
}

// Note writes the note for a part, before the part is created. The note is a symbolic link,
// because a link is created atomically.
func (p Parts) Note(at job.Attempt, what, part string) error {
	note := p.note(at, what)
	err := os.Symlink(part, note)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(p.Root, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			err = os.Symlink(part, note)
		}
	}
	if errors.Is(err, fs.ErrExist) { // the number of the attempt was used twice, because its record was lost; both have the same part
		return nil
	}
	return err
}

// Forget removes the note for a part that was removed or is to stay.
func (p Parts) Forget(at job.Attempt, what string) { _ = os.Remove(p.note(at, what)) } // a note that stays names what no longer exists

// Clear removes all that is noted. The caller ensures that no attempt uses it.
func (p Parts) Clear() {
	notes, err := os.ReadDir(p.Root)
	if err != nil {
		return // there are no notes
	}
	for _, n := range notes {
		part, err := os.Readlink(filepath.Join(p.Root, n.Name()))
		if err == nil && IsPart(filepath.Base(part)) {
			_ = disk.RemoveTree(part) // it is hidden; if it cannot be removed here, the user can remove it
		}
	}
}
