package worker

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
	"berth/internal/probe"
)

// cookieName is the variable by which the processes of a node's tasks are known
// again after their worker died.
const cookieName = "BERTH_NODE"

// killPatience is how long a killed process is waited for: one that hangs in the
// kernel, on a dead file server say, may never go.
const killPatience = 10 * time.Second

// scratch is the folder for the intermediate data of one node, mode 0700. It
// outlives the worker: the next one for the same node takes it over.
//
//	DIR/lock           locked by the live worker (fcntl(2)); names bundle and cookie
//	DIR/outputs/JOB/…  map outputs (mapreduce.Outputs)
//	DIR/JOB/…          running attempts of a MapReduce job, and what they share
//	DIR/tasks/…        folders of running bag tasks
type scratch struct {
	root   string // where the folders of all nodes are
	dir    string
	lock   *os.File
	cookie string // NAME=VALUE in the environment of the node's tasks
}

// openScratch makes or takes over the node's folder. A worker that still holds
// it is dead to the coordinator, which started this one in its place: it is
// killed, and so are the tasks it left.
func openScratch(cfg Config) (*scratch, error) {
	if err := privateFolder(cfg.Scratch); err != nil {
		return nil, err
	}
	// The bundle's path tells apart nodes of the same name of two coordinators.
	name := fmt.Sprintf("%s-%08x", strings.ReplaceAll(string(cfg.Node), "/", "-"), uint32(hash64(cfg.Bundle)))
	s := &scratch{root: cfg.Scratch, dir: filepath.Join(cfg.Scratch, name)}
	if err := privateFolder(s.dir); err != nil {
		return nil, err
	}
	if err := s.takeLock(cfg.Log); err != nil {
		return nil, err
	}
	if err := s.setCookie(cfg); err != nil {
		return nil, err
	}
	if err := s.clear(); err != nil {
		return nil, err
	}
	s.removeAbandoned(cfg.Log)
	return s, nil
}

// privateFolder makes a folder that only this user can enter, and refuses one that belongs to another.
func privateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return scratchError(dir, "cannot make the scratch folder", err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return scratchError(dir, "cannot look at the scratch folder", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() {
		return &job.Error{Class: job.User, Code: job.CodeIO, Where: dir,
			What: fmt.Sprintf("the scratch folder is no folder of this user (owner %d)", st.Uid),
			Do:   "name another with --scratch"}
	}
	if st.Mode&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return scratchError(dir, "the scratch folder is open to others", err)
		}
	}
	return nil
}

func scratchError(dir, what string, err error) error {
	return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: what,
		Do: "make room there, or name another scratch folder with --scratch", Err: err}
}

// takeLock locks the folder. The lock is the kind that tells who holds it
// (fcntl(2), F_GETLK), so that nothing else is ever killed.
func (s *scratch) takeLock(log *slog.Logger) error {
	path := filepath.Join(s.dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return scratchError(path, "cannot open the lock file", err)
	}
	for {
		lk := unix.Flock_t{Type: unix.F_WRLCK}
		err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lk)
		if err == nil {
			s.lock = f
			return s.sameLock(path)
		}
		if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
			_ = f.Close()
			return scratchError(path, "cannot lock", err)
		}
		if err := evict(f, log); err != nil {
			_ = f.Close()
			return scratchError(path, "another worker holds it", err)
		}
	}
}

// sameLock makes sure that the locked file is the one that has the name: a worker
// that ends for good removes its folder, and with it the lock others wait for.
func (s *scratch) sameLock(path string) error {
	mine, err := s.lock.Stat()
	if err != nil {
		return scratchError(path, "cannot look at the lock file", err)
	}
	if named, err := os.Lstat(path); err == nil && os.SameFile(mine, named) {
		return nil
	}
	_ = s.lock.Close()
	return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: path,
		What: "an earlier worker removed the scratch folder just now", Do: "start the worker again"}
}

// evict kills the process that holds the lock and waits until it is gone.
func evict(f *os.File, log *slog.Logger) error {
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lk); err != nil {
		return err
	}
	switch {
	case lk.Type == unix.F_UNLCK:
		return nil // it let go meanwhile
	case lk.Pid <= 0:
		return errors.New("its holder cannot be seen from here")
	}
	fd, err := unix.PidfdOpen(int(lk.Pid), 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	log.Warn("an earlier worker of this node still runs; it is killed", "pid", lk.Pid)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(killPatience/time.Millisecond))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("process %d does not die", lk.Pid)
		default:
			return nil
		}
	}
}

// setCookie kills what an earlier worker of the node left running, by the cookie
// it gave its tasks, and notes the cookie for those of this one.
func (s *scratch) setCookie(cfg Config) error {
	b, err := io.ReadAll(io.NewSectionReader(s.lock, 0, 1<<16))
	if err != nil {
		return scratchError(s.lock.Name(), "cannot read", err)
	}
	if _, old, ok := strings.Cut(string(b), "\n"); ok && strings.HasPrefix(old, cookieName+"=") {
		s.cookie = strings.TrimSuffix(old, "\n")
		return killAll(s.cookie, cfg.Log)
	}
	secret := make([]byte, 8)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	s.cookie = cookieName + "=" + string(cfg.Node) + "." + hex.EncodeToString(secret)
	if _, err := s.lock.WriteAt([]byte(cfg.Bundle+"\n"+s.cookie+"\n"), 0); err != nil {
		return scratchError(s.lock.Name(), "cannot write", err)
	}
	return nil
}

// killAll kills every process that carries the cookie: what tasks left that nobody
// waits for. One that forks meanwhile is found in the next round.
func killAll(cookie string, log *slog.Logger) error {
	for begin := time.Now(); ; {
		pids, err := probe.WithEnv(cookie)
		if err != nil {
			return fmt.Errorf("look for processes that tasks left: %w", err)
		}
		if len(pids) == 0 {
			return nil
		}
		log.Warn("processes that tasks left are killed", "pids", pids)
		if time.Since(begin) > killPatience {
			log.Error("they do not die and take room from the tasks", "pids", pids)
			return nil
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
		}
		time.Sleep(time.Millisecond) // a killed process stays visible until it is torn down
	}
}

// clear removes what an earlier worker left, but for its map outputs: attempts
// that were lost, and what they unpacked.
func (s *scratch) clear() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return scratchError(s.dir, "cannot list the scratch folder", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if path == s.lock.Name() || path == s.outputs() {
			continue
		}
		if err := removeTree(path); err != nil {
			return scratchError(path, "cannot remove what an earlier worker left", err)
		}
	}
	return privateFolder(s.tasks())
}

// removeAbandoned removes the folders of nodes whose allocation is over: their
// bundle is gone and nobody holds them. It is a courtesy; what fails is logged.
func (s *scratch) removeAbandoned(log *slog.Logger) {
	locks, err := filepath.Glob(filepath.Join(s.root, "*", "lock"))
	if err != nil {
		return
	}
	for _, path := range locks {
		if filepath.Dir(path) == s.dir || !abandoned(path) {
			continue
		}
		log.Info("scratch folder of an allocation that is over is removed", "dir", filepath.Dir(path))
		if err := removeTree(filepath.Dir(path)); err != nil {
			log.Warn("scratch folder stays", "dir", filepath.Dir(path), "err", err)
		}
	}
}

// abandoned reports whether the lock's bundle is gone, so that no worker will be
// started on the folder any more, and no worker holds it.
func abandoned(lock string) bool {
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return false
	}
	bundle, _, ok := strings.Cut(string(b), "\n")
	if !ok {
		return false
	}
	if _, err := os.Lstat(bundle); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	lk := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lk) == nil
}

func (s *scratch) tasks() string        { return filepath.Join(s.dir, "tasks") }
func (s *scratch) outputs() string      { return filepath.Join(s.dir, "outputs") }
func (s *scratch) job(id job.ID) string { return filepath.Join(s.dir, string(id)) }
func (s *scratch) close()               { _ = s.lock.Close() } // lets go of the lock
func (s *scratch) remove() error        { return removeTree(s.dir) }

// removeTree removes a folder and all in it, also where a task took away its own rights.
func removeTree(dir string) error {
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

func hash64(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s) // a hash takes everything
	return h.Sum64()
}
