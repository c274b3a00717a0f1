package worker

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/private"
	"berth/internal/wire"
)

// scratch is the folder for the intermediate data of one node, with mode 0700. It outlives the worker, and the next
// worker of the node uses it again.
//
//	DIR/lock           locked by the live worker (fcntl(2)); see note
//	DIR/outputs/JOB/…  map outputs (shuffle.Store)
//	DIR/JOB/…          running attempts of a MapReduce job, and what they share
//	DIR/tasks/…        folders of running bag tasks
//	DIR/parts/…        where running bag tasks have folders and files elsewhere (files.Parts)
//
// A root with a token (Config.Token) belongs to one allocation. If all nodes of the allocation see it, they read the map
// outputs in it in place, even after this node is gone. Then the driver removes it, and the worker removes only what
// others cannot use.
//
// It may be removed while the worker runs, by a task or by what tidies up temporary files. Then the worker makes it again
// (renew).
type scratch struct {
	Config // of the worker; Scratch is the root, with the folders of all nodes
	dir    string
	lent   bool // the root belongs to the driver
	shared bool // the coordinator's machine sees it too
	cookie process.Cookie
	note   note // what the lock file contains

	mu      sync.Mutex // held while the folder is made again
	lock    *os.File
	renewed time.Time // when it was made again for the last time; zero: never
	left    bool      // the worker has ended, and it is not made again
}

// openScratch creates the node's folder, or uses that of an earlier worker. If another worker still has it locked, the
// coordinator has given that worker up and started this one instead. It is killed, and so are its tasks.
func openScratch(cfg Config) (*scratch, error) {
	s := &scratch{Config: cfg, dir: scratchFolder(cfg), lent: cfg.Token != ""}
	if err := s.makeFolders(); err != nil {
		return nil, err
	}
	s.shared = s.lent && wire.SeesToken(cfg.Scratch, cfg.Token)
	if err := s.takeLock(setLock); err != nil {
		return nil, err
	}
	if err := s.setCookie(); err != nil {
		return nil, err
	}
	if err := s.clear(); err != nil {
		return nil, err
	}
	if !s.lent {
		s.removeAbandoned()
	}
	return s, nil
}

// scratchFolder returns the path of the node's folder. The bundle's path distinguishes nodes of the same name of two coordinators.
func scratchFolder(cfg Config) string {
	return filepath.Join(cfg.Scratch, fmt.Sprintf("%s-%08x", strings.ReplaceAll(string(cfg.Node), "/", "-"), uint32(files.Hash(cfg.Bundle))))
}

func (s *scratch) makeFolders() error { return cmp.Or(privateFolder(s.Scratch), privateFolder(s.dir)) }

// privateFolder creates a folder that only this user can enter. It refuses a folder that others created or may write to.
func privateFolder(dir string) error {
	return scratchError(dir, "cannot make the scratch folder", private.Folder(dir))
}

// scratchError returns the error for the scratch folder or a file in it, or nil if err is nil.
func scratchError(dir, what string, err error) error {
	var u *private.Untrusted
	switch {
	case err == nil:
		return nil
	case errors.As(err, &u):
		return job.IOError(job.User, u.Path, "the scratch folder cannot be trusted: it "+u.What, nil).Advice("remove it if it is yours to remove, or name another with --scratch")
	}
	return job.IOError(job.Fatal, dir, what, err).Advice("free space there, or name another scratch folder with --scratch")
}

// setCookie kills the processes that an earlier worker of the node left running, which it finds by the cookie of that
// worker's tasks. It then notes the cookie of this worker.
func (s *scratch) setCookie() error {
	n, err := readNote(s.lock)
	if err != nil {
		return scratchError(s.lock.Name(), "cannot read", err)
	}
	host, _ := os.Hostname() // no machine is named "", so nothing is killed because of it
	if n.host != host {
		n.bare = "" // these numbers are of another machine
	}
	if s.cookie = n.cookie; s.cookie == "" {
		s.cookie = process.NewCookie(s.Node)
	} else if err := s.cookie.KillAll(s.Variables, n.bare, s.Log); err != nil {
		return err
	}
	return s.writeNote()
}

func (s *scratch) writeNote() error {
	host, _ := os.Hostname() // no machine is named "", so nothing is killed because of it
	s.note = note{bundle: s.Bundle, cookie: s.cookie, host: host, pid: os.Getpid(), bare: s.note.bare}
	return scratchError(s.lock.Name(), "cannot write", writeNote(s.lock, s.note))
}

// noteBare notes the processes of tasks that the cookie does not identify, for whoever has to kill what this worker has left. While the
// folder is made again it does nothing: the next call will.
func (s *scratch) noteBare(bare string) error {
	if !s.mu.TryLock() {
		return nil
	}
	defer s.mu.Unlock()
	if s.note.bare == bare {
		return nil
	}
	s.note.bare = bare
	return writeNote(s.lock, s.note)
}

// clear removes what an earlier worker left except its map outputs: lost attempts, and what they unpacked.
func (s *scratch) clear() error {
	s.parts().Clear()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return scratchError(s.dir, "cannot list the scratch folder", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if path == s.lockPath() || path == s.outputs() {
			continue
		}
		if err := disk.RemoveTree(path); err != nil {
			return scratchError(path, "cannot remove what an earlier worker left", err)
		}
	}
	return privateFolder(s.tasks())
}

// renew makes again what is missing of the folder. It returns an error if that is impossible, or if another worker of
// the node has taken the folder meanwhile. What is removed while it is made is made again by the next call.
func (s *scratch) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left || s.isWhole() {
		return nil
	}
	s.Log.Warn("the scratch folder was removed or changed while it was in use, and is made again", "dir", s.dir)
	s.renewed = time.Now()
	if err := s.makeFolders(); err != nil {
		return err
	}
	if info, err := os.Lstat(s.lockPath()); err != nil || !isFile(s.lock, info) {
		if err := s.lockAgain(); err != nil {
			return unlessRemoved(err)
		}
	}
	return unlessRemoved(cmp.Or(privateFolder(s.tasks()), privateFolder(s.outputs())))
}

// unlessRemoved returns an error unless its cause is that something was removed.
func unlessRemoved(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// isWhole reports whether the worker can work in the folder, and has it locked. While the file system does not answer it
// is whole.
func (s *scratch) isWhole() bool {
	for _, path := range []string{s.dir, s.tasks(), s.outputs(), s.lockPath()} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrPermission):
			return false
		case err != nil:
		case path == s.lockPath():
			return isFile(s.lock, info)
		case !info.IsDir() || info.Mode().Perm() != 0o700:
			return false
		}
	}
	return true
}

// removedSince reports whether something of the folder was missing at some time after t.
func (s *scratch) removedSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed.After(t)
}

// removeAbandoned removes the folders of nodes whose allocation is over: their bundle is gone and no process has them
// locked. Errors are only logged.
func (s *scratch) removeAbandoned() {
	locks, err := filepath.Glob(filepath.Join(s.Scratch, "*", "lock"))
	if err != nil {
		return
	}
	for _, path := range locks {
		if filepath.Dir(path) == s.dir || !abandoned(path) {
			continue
		}
		s.Log.Info("scratch folder of an allocation that is over is removed", "dir", filepath.Dir(path))
		if err := disk.RemoveTree(filepath.Dir(path)); err != nil {
			s.Log.Warn("scratch folder stays", "dir", filepath.Dir(path), "err", err)
		}
	}
}

// abandoned reports whether the bundle named in the lock is gone, so that no worker will use the folder any more, and no
// worker has it locked.
func abandoned(lock string) bool {
	f, err := private.Open(lock, os.O_RDWR)
	if err != nil {
		return false
	}
	defer f.Close()
	n, err := readNote(f)
	if err != nil || n.bundle == "" {
		return false
	}
	if _, err := os.Lstat(n.bundle); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return setLock(f) == nil
}

func (s *scratch) lockPath() string     { return filepath.Join(s.dir, "lock") }
func (s *scratch) tasks() string        { return filepath.Join(s.dir, "tasks") }
func (s *scratch) parts() files.Parts   { return files.Parts{Root: filepath.Join(s.dir, "parts")} }
func (s *scratch) outputs() string      { return filepath.Join(s.dir, "outputs") }
func (s *scratch) job(id job.ID) string { return filepath.Join(s.dir, string(id)) }

// leave ends the use of the folder.
func (s *scratch) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = true
}

// close releases the lock.
func (s *scratch) close() {
	s.leave()
	_ = s.lock.Close()
}

// remove removes everything when the worker ends for good, except map outputs that other nodes may read.
func (s *scratch) remove() error {
	s.leave()
	if s.shared {
		return s.clear()
	}
	err := disk.RemoveTree(s.dir)
	if s.lent {
		_ = os.Remove(s.Scratch) // fails if other nodes have folders in it
	}
	return err
}
