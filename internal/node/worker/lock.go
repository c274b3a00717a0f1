package worker

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/private"
	"berth/internal/sys/probe"
)

// foreignPatience is how long the worker waits for a lock of another machine. The batch system started this worker
// because the other one is gone, but a file server may notice that late.
const foreignPatience = 5 * time.Second

// takeLock locks the folder. The kernel tells which process has such a lock (fcntl(2), F_GETLK), so nothing else is ever
// killed. If the file system has no locks, or if the lock belongs to another machine, the worker continues without one:
// the coordinator accepts only one worker of a node, and files of two workers never have the same name.
func (s *scratch) takeLock(set func(*os.File) error) error {
	path := s.lockPath()
	f, err := private.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return scratchError(path, "cannot open the lock file", err)
	}
	s.lock = f
	for until := time.Now().Add(foreignPatience); ; {
		err := set(f)
		if process.IsAny(err, unix.EAGAIN, unix.EACCES) {
			if err = evict(f, s.lent, s.Log); err == nil {
				continue
			}
		}
		switch {
		case err == nil:
		case noLocks(err):
			s.Log.Warn("scratch folder is used without a lock: its file system has none", "dir", s.dir, "err", err)
		case errors.Is(err, errForeign) && time.Now().Before(until):
			time.Sleep(foreignPatience / 50)
			continue
		case errors.Is(err, errForeign):
			s.Log.Warn("scratch folder is used without its lock", "dir", s.dir, "err", err)
		default:
			_ = f.Close()
			return scratchError(path, "cannot lock", err)
		}
		return s.sameLock(path)
	}
}

// setLock tries to lock a file.
func setLock(f *os.File) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lk)
}

// noLocks reports whether an error says that a file system has no locks (fcntl(2); Lustre without the mount option flock
// returns ENOSYS).
func noLocks(err error) bool {
	return process.IsAny(err, unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP)
}

// sameLock checks that the locked file still has its name: a worker that ends for good removes its folder, and with it the
// lock for which others wait.
func (s *scratch) sameLock(path string) error {
	if named, err := os.Lstat(path); err == nil && isFile(s.lock, named) {
		return nil
	}
	_ = s.lock.Close()
	return job.IOError(job.Transient, path, "an earlier worker removed the scratch folder just now", nil).Advice("start the worker again")
}

// isFile reports whether info is of the file that is open.
func isFile(f *os.File, info os.FileInfo) bool {
	mine, err := f.Stat()
	return err == nil && os.SameFile(mine, info)
}

// lockAgain locks a new lock file, as the other one has lost its name. A later worker of the node, which could not find
// that lock, has locked the new file: then this worker has been replaced.
func (s *scratch) lockAgain() error {
	f, err := private.Open(s.lockPath(), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return scratchError(s.lockPath(), "cannot open the lock file", err)
	}
	if err := setLock(f); err != nil && !noLocks(err) {
		_ = f.Close()
		return job.IOError(job.Transient, s.lockPath(), "another worker of this node has taken the scratch folder", nil) // its EAGAIN is no lack of something (process.IsScarce)
	}
	_ = s.lock.Close() // nobody can find it any more
	s.lock = f
	return s.writeNote()
}

// errForeign says that the process with the lock is on another machine and cannot be killed.
var errForeign = errors.New("another machine holds it")

// evict kills the process with the lock and waits until it is gone. In a folder that other machines see, it kills only a
// process that has noted the name of this machine, as the process number may belong to another machine.
func evict(f *os.File, lent bool, log *slog.Logger) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lk); err != nil {
		return err
	}
	if lk.Type == unix.F_UNLCK {
		return nil // it has released the lock
	}
	n, err := readNote(f)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // no note contains ""
	switch noted := n.host == host && n.pid == int(lk.Pid); {
	case noted:
	case n.host != "" && n.host != host:
		return fmt.Errorf("%w: process %d of %s", errForeign, n.pid, n.host)
	case lent:
		return fmt.Errorf("%w, or a worker that has just begun", errForeign)
	case lk.Pid <= 0:
		return errors.New("another worker holds it, which cannot be seen from here")
	}
	return killHolder(int(lk.Pid), log)
}

// killHolder kills a process and waits until it is gone.
func killHolder(pid int, log *slog.Logger) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	log.Warn("an earlier worker of this node still runs; it is killed", "pid", pid)
	ended, err := probe.Kill(fd, process.KillPatience)
	if err == nil && !ended {
		err = fmt.Errorf("process %d does not die", pid)
	}
	return err
}

// note is the content of a worker's lock file, one line for each field.
type note struct {
	bundle string         // path of its keys, which are removed with its allocation
	cookie process.Cookie // cookie of its tasks
	host   string         // name of its machine
	pid    int
	bare   string // processes of its tasks without the cookie (process.Bare)
}

// readNote reads the note of the last worker. Missing fields are empty.
func readNote(f *os.File) (note, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<16))
	if err != nil {
		return note{}, err
	}
	lines := strings.Split(string(b), "\n")
	lines = append(lines[:len(lines)-1], make([]string, 4)...) // the last line is empty or incomplete
	n := note{bundle: lines[0], cookie: process.ParseCookie(lines[1]), bare: lines[3]}
	pid, host, _ := strings.Cut(lines[2], " ")
	if n.pid, err = strconv.Atoi(pid); err == nil {
		n.host = host
	}
	return n, nil
}

func writeNote(f *os.File, n note) error {
	text := fmt.Sprintf("%s\n%s\n%d %s\n%s\n", n.bundle, n.cookie, n.pid, n.host, n.bare)
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
