package process

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/disk"
)

// TaskDirs lends each bag task a private, empty folder (BERTH_TASK_DIR).
//
// Most tasks put nothing there, and making and removing a folder costs more than
// all other file operations of a short task together. So an untouched folder is
// lent again. Untouched is known for certain: its time of modification was set to
// a mark in the past, which any entry made or removed would have changed.
type TaskDirs struct {
	Root string // where the folders are made

	mu   sync.Mutex
	idle []string
	made int
}

// untouched is the mark: the second after the epoch.
var untouched = unix.Timespec{Sec: 1}

// Take returns a folder of mode 0700 without anything in it.
func (t *TaskDirs) Take() (string, error) {
	t.mu.Lock()
	if n := len(t.idle); n > 0 {
		dir := t.idle[n-1]
		t.idle = t.idle[:n-1]
		t.mu.Unlock()
		return dir, nil
	}
	t.made++
	dir := filepath.Join(t.Root, strconv.Itoa(t.made))
	t.mu.Unlock()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	mark := []unix.Timespec{untouched, untouched}
	return dir, unix.UtimesNanoAt(unix.AT_FDCWD, dir, mark, unix.AT_SYMLINK_NOFOLLOW)
}

// Give takes a folder back when its task is over, with what the task left in it.
func (t *TaskDirs) Give(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err == nil && st.Mtim == untouched && st.Mode == unix.S_IFDIR|0o700 {
		t.mu.Lock()
		t.idle = append(t.idle, dir)
		t.mu.Unlock()
		return nil
	}
	return disk.RemoveTree(dir)
}
