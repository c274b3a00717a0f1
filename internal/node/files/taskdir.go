package files

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/sys/disk"
)

// TaskDirs is a pool of private, empty folders for bag tasks (BERTH_TASK_DIR).
//
// Most tasks put nothing there, and creating and removing a folder costs more than all other file
// operations of a short task. An untouched folder is therefore reused. Its modification time was
// set to a mark in the past, and every entry that is created or removed changes that time.
type TaskDirs struct {
	Root string // parent of the folders

	mu   sync.Mutex
	idle []string
	made int
}

// untouched is the mark: one second after the epoch.
var untouched = unix.Timespec{Sec: 1}

// Acquire returns an empty folder of mode 0700.
func (t *TaskDirs) Acquire() (string, error) {
	t.mu.Lock()
	for n := len(t.idle); n > 0; n = len(t.idle) {
		dir := t.idle[n-1]
		t.idle = t.idle[:n-1]
		if isUntouched(dir) { // nobody has removed it
			t.mu.Unlock()
			return dir, nil
		}
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

// Release returns a folder to the pool when its task has ended, and removes the files that the task
// left in it.
func (t *TaskDirs) Release(dir string) error {
	if isUntouched(dir) {
		t.mu.Lock()
		t.idle = append(t.idle, dir)
		t.mu.Unlock()
		return nil
	}
	return disk.RemoveTree(dir)
}

// isUntouched reports whether a folder is as Acquire has made it.
func isUntouched(dir string) bool {
	var st unix.Stat_t
	return unix.Lstat(dir, &st) == nil && st.Mtim == untouched && st.Mode == unix.S_IFDIR|0o700
}
