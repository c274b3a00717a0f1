package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// RemoveTree removes what tasks closed to themselves.
func TestRemoveTree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	closed := filepath.Join(dir, "b", "c")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(closed, 0), os.Chmod(filepath.Dir(closed), 0)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing
		if err := RemoveTree(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// RemoveTree removes a folder into which a process writes its last files while what is there already is removed.
func TestRemoveTreeThatGrows(t *testing.T) {
	for round := range 10 {
		dir := filepath.Join(t.TempDir(), "a")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(name string, files int) {
			for i := range files {
				_ = os.WriteFile(filepath.Join(dir, name+fmt.Sprint(i)), nil, 0o600) // fails once the folder is gone
			}
		}
		write("early", 300)
		written := make(chan bool)
		go func() {
			defer close(written)
			write("late", lastFiles)
		}()
		if err := RemoveTree(dir); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		<-written
	}
}

// Files, folders and whole file systems are synced; SyncPlain follows no link and does not wait.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link), unix.Mkfifo(fifo, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file, link} {
		if err := Sync(path); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(SyncPlain(file), SyncFileSystem(dir)); err != nil {
		t.Error(err)
	}
	if err := SyncPlain(link); !errors.Is(err, unix.ELOOP) {
		t.Errorf("through a link: %v", err)
	}
	if err := SyncPlain(fifo); err == nil {
		t.Error("a FIFO was synced")
	}
}

// TestRoom: what was written to find out is removed, and where nothing can be written there is no room.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	if err := Room(dir, 1<<20); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%v are left (%v)", left, err)
	}
	if err := Room(filepath.Join(dir, "missing"), 1); err == nil {
		t.Error("there is room in a folder that does not exist")
	}
}

// TestAdvice: a disk that does not take what is written to it has an advice, and other errors have none.
func TestAdvice(t *testing.T) {
	for _, err := range []error{unix.ENOSPC, unix.EDQUOT, unix.EROFS, unix.EIO} {
		if Advice(fmt.Errorf("write: %w", err)) == "" {
			t.Errorf("%v has none", err)
		}
	}
	if s := Advice(unix.ENOENT); s != "" {
		t.Errorf("a missing file has %q", s)
	}
}
