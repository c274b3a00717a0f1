package statedir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// ErrLocked is returned by TryLock where another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// lockFile waits for an exclusive lock on a file, made if missing.
func lockFile(path string) (unlock func(), err error) {
	f, err := flock(path, unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil // closing lets go of the lock
}

// TryLock takes an exclusive lock on a file, made if missing, or returns
// ErrLocked. The lock goes with the file's last descriptor, so with the process.
//
// It is one of flock(2), which holds between machines where the file system is NFS
// (Linux 2.6.12 and later lock the file's whole range on the server) or another that
// keeps such locks on its servers. A mount that keeps them on each machine
// (local_lock, nolock, localflock) does not protect one machine from the other.
func TryLock(path string) (*os.File, error) { return flock(path, unix.LOCK_EX|unix.LOCK_NB) }

func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: path, What: "cannot open the lock file", Err: err, Do: disk.Advice(err)}
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		_ = f.Close()
		return nil, ErrLocked
	default:
		_ = f.Close()
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: path, What: "cannot lock", Err: err,
			Do: "set XDG_STATE_HOME to a folder on a file system that has locks"}
	}
}
