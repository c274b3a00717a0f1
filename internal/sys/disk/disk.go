// Package disk has the operations on files and folders that the standard library lacks: it
// removes a folder in which a task took away its own access rights, and syncs files and
// folders to the disk. It knows nothing of jobs, and returns errors unchanged.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RemoveTree removes a folder and everything in it, even if a task took away its own access rights, or a process that is about to end
// writes its last files into it meanwhile.
func RemoveTree(dir string) error {
	err := removeAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walk := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if os.Chmod(path, 0o700) == nil && err != nil {
				return nil // the folder can be read now, by the second RemoveAll
			}
		}
		return nil
	})
	return errors.Join(walk, removeAll(dir))
}

// lastFiles is how often a file may come into a folder just before that is removed.
const lastFiles = 10

// removeAll is os.RemoveAll, which gives up if a file comes into a folder between its last look at it and its removal.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	for range lastFiles {
		if !errors.Is(err, unix.ENOTEMPTY) {
			break
		}
		err = os.RemoveAll(dir)
	}
	return err
}

// Sync writes a file, or the names in a folder, to the disk (fsync(2)).
func Sync(path string) error { return sync(path, 0, unix.Fsync) }

// SyncPlain is Sync for a path that another program may have replaced: it does not follow a
// symbolic link, and does not block as opening a FIFO would.
func SyncPlain(path string) error { return sync(path, unix.O_NOFOLLOW|unix.O_NONBLOCK, unix.Fsync) }

// SyncFileSystem writes the whole file system of a folder to the disk (syncfs(2)).
func SyncFileSystem(dir string) error { return sync(dir, unix.O_NOFOLLOW|unix.O_NONBLOCK, unix.Syncfs) }

// sync opens a file or folder and calls f with its descriptor.
func sync(path string, flags int, f func(fd int) error) error {
	file, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written through it
	for err = unix.EINTR; err == unix.EINTR; {
		err = f(int(file.Fd()))
	}
	if err != nil {
		return &fs.PathError{Op: "sync", Path: path, Err: err}
	}
	return nil
}

// Room returns an error if a folder's file system has no room for a new file of that many bytes. It writes such a file
// and removes it, as no question to the system knows all quotas.
func Room(dir string, bytes int) error {
	f, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, bytes))
	return errors.Join(err, f.Close(), os.Remove(f.Name())) // a network file system may say it only at the close
}

// Advice says what the user can do about a disk that does not take what is written to it. It is empty for any other error.
func Advice(err error) string {
	const kept = "; no finished work is lost, and `berth resume` goes on with jobs that stopped"
	switch {
	case errors.Is(err, unix.ENOSPC):
		return "free space on that disk" + kept
	case errors.Is(err, unix.EDQUOT):
		return "free space within your quota" + kept
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.EIO):
		return "that disk may have failed: make it writable again (the system's log says what happened)" + kept
	}
	return ""
}
