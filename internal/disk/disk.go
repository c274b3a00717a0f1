// Package disk does what the standard library leaves to its callers with files and folders: it
// removes a folder whatever rights a task took away in it, and makes files and names durable.
// It knows nothing of jobs and decides nothing about errors.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RemoveTree removes a folder and all in it, also where a task took away its own rights.
func RemoveTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if os.Chmod(path, 0o700) == nil && err != nil {
				return nil // readable now; RemoveAll looks again
			}
		}
		return nil
	})
	return errors.Join(walk, os.RemoveAll(dir))
}

// Sync returns when a file, or the names in a folder, are on their disk (fsync(2)).
func Sync(path string) error { return sync(path, 0, unix.Fsync) }

// SyncPlain is Sync for a path that another program may have replaced: it follows no link and
// never waits, as opening a FIFO would.
func SyncPlain(path string) error { return sync(path, unix.O_NOFOLLOW|unix.O_NONBLOCK, unix.Fsync) }

// SyncFileSystem returns when all that was written to the file system of a folder is on its
// disk (syncfs(2)).
func SyncFileSystem(dir string) error { return sync(dir, unix.O_NOFOLLOW|unix.O_NONBLOCK, unix.Syncfs) }

// sync calls f with a descriptor of a file or folder.
func sync(path string, flags int, f func(fd int) error) error {
	file, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // nothing was written through it
	for err = unix.EINTR; err == unix.EINTR; {
		err = f(int(file.Fd()))
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: path, Err: err}
	}
	return nil
}
