package statedir

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// ErrLocked is returned by TryLock where another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// AwaitNumbers returns once nobody holds the lock under which runs get their numbers. If that takes longer than a moment, say is called
// with who holds it.
func (h Home) AwaitNumbers(moment time.Duration, say func(string)) error {
	f, err := TryLock(h.runsLock())
	if errors.Is(err, ErrLocked) {
		told := time.AfterFunc(moment, func() { say("waiting for the lock " + h.runsLock() + lockedBy(h.runsLock())) })
		defer told.Stop()
		f, err = flock(h.runsLock(), unix.LOCK_EX)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// lockedBy says which process of this machine holds a lock, as far as it is known.
func lockedBy(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	locks, _ := os.ReadFile("/proc/locks") // none: nothing is known
	pid := holderIn(string(locks), info.Sys().(*syscall.Stat_t).Ino)
	name, err := os.ReadFile("/proc/" + pid + "/comm")
	if pid == "" || err != nil {
		return ", which a process of another machine or user may hold"
	}
	return fmt.Sprintf(", which process %s holds (%s)", pid, strings.TrimSpace(string(name)))
}

// holderIn returns the process that holds a lock of flock(2) on that file, by the text of /proc/locks (proc_locks(5)).
func holderIn(locks string, inode uint64) (pid string) {
	for line := range strings.Lines(locks) {
		if f := strings.Fields(line); len(f) == 8 && f[1] == "FLOCK" && strings.HasSuffix(f[5], fmt.Sprintf(":%d", inode)) {
			return f[4]
		}
	}
	return ""
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
		return nil, job.IOError(job.Fatal, path, "cannot open the lock file", err).Advice(disk.Advice(err))
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(f.Fd()), how)
	}
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if err == unix.EWOULDBLOCK {
		return nil, ErrLocked
	}
	return nil, job.IOError(job.Fatal, path, "cannot lock", err).Advice("set XDG_STATE_HOME to a folder on a file system that has locks")
}
