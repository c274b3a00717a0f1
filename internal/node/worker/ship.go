package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/sys/archive"
	"berth/internal/sys/disk"
)

// shipping is the files that a job ships to the folders of its tasks.
type shipping struct {
	mu   sync.Mutex
	made map[string]error // results of unpacking archives and of making programs executable, by path

	fetched  bool              // the files are in a folder of this host (work.shippedDir)
	programs map[string]string // the programs in that folder, by their paths on the user's machine
}

// once calls do once for each place, a path, for all tasks of the job on this node, and again if what it made is gone.
func (s *shipping) once(place string, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err, done := s.made[place]
	if !done || err == nil && !exists(place) {
		err = do()
		if s.made == nil {
			s.made = make(map[string]error)
		}
		s.made[place] = err
	}
	return err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fetchShipped fetches the files that a job ships into a folder of this host, once for all of its tasks.
func (wk *work) fetchShipped(w *worker, a *attempt) error {
	if !w.far() {
		return nil
	}
	wk.ship.mu.Lock()
	defer wk.ship.mu.Unlock()
	dir := wk.shippedDir()
	if wk.ship.fetched && exists(dir) {
		return nil
	}
	// An attempt that was killed while it fetched may have left some.
	if err := errors.Join(disk.RemoveTree(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return process.ScratchFailure(dir, err)
	}
	err := w.fetch(a, dir, wk.takePrograms)
	wk.ship.fetched = err == nil
	return err
}

// shippedDir returns the folder for fetched files that the job ships.
func (wk *work) shippedDir() string { return filepath.Join(wk.dir, "shipped") }

// shippedFile returns the path on this machine of a shipped file, by its index.
func (wk *work) shippedFile(i int) string {
	f := wk.spec.MapReduce.Files[i]
	if !wk.ship.fetched {
		return f.Path
	}
	return filepath.Join(wk.shippedDir(), transfer.ShippedItem(i, f.Path))
}

// takePrograms makes tasks run the user's copy of each program whose absolute path does not exist on this host. Other
// programs need not be fetched.
func (wk *work) takePrograms(needs *transfer.Needs) {
	wk.ship.programs = make(map[string]string)
	for i, path := range transfer.Programs(wk.spec.MapReduce) {
		item := transfer.ProgramItem(i, path)
		at := slices.IndexFunc(needs.Items, func(i transfer.Item) bool { return i.Path == item })
		if at < 0 {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			needs.Items = slices.Delete(needs.Items, at, at+1)
			continue
		}
		wk.ship.programs[path] = filepath.Join(wk.shippedDir(), item)
	}
}

// words returns a program's words with the paths of its files on this machine.
func (wk *work) words(args []string) []string {
	if len(wk.ship.programs) == 0 {
		return args
	}
	args = slices.Clone(args)
	for i, word := range args {
		if here, is := wk.ship.programs[word]; is {
			args[i] = here
		}
	}
	return args
}

// furnish creates an attempt's working folder with links to all shipped files.
func (wk *work) furnish(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		return process.ScratchFailure(dir, err)
	}
	for i, f := range wk.spec.MapReduce.Files {
		if !filepath.IsLocal(f.Name) {
			return process.Failed("the shipped file %s would be put outside of the task's folder, as %q", f.Path, f.Name)
		}
		target := wk.shippedFile(i)
		if f.Archive {
			packed := target
			target = filepath.Join(wk.dir, "archives", f.Name)
			if err := wk.ship.once(target, func() error { return unpack(packed, target) }); err != nil {
				return err
			}
		} else if _, err := os.Stat(target); err != nil {
			return process.Failed("the shipped file %s cannot be read on this node: %v", f.Path, err)
		}
		if err := wk.ship.link(target, filepath.Join(dir, f.Name)); err != nil {
			return process.ScratchFailure(dir, err)
		}
	}
	return nil
}

// link creates a symbolic link and replaces a file with the same name.
func (s *shipping) link(target, name string) error {
	s.mu.Lock() // two programs of a task may be one shipped file
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(target, name)
}

// unpack unpacks an archive, unless an earlier worker of the node has done so.
func unpack(file, target string) error {
	if _, err := os.Lstat(target); err == nil {
		return nil
	}
	part := target + ".part"
	if err := errors.Join(disk.RemoveTree(part), os.MkdirAll(part, 0o700)); err != nil {
		return process.ScratchFailure(part, err)
	}
	if err := archive.Unpack(file, part); err != nil {
		if process.OfMachine(err) {
			return process.ScratchFailure(part, err)
		}
		return process.Broken("the archive %s cannot be unpacked: %v", file, err)
	}
	if err := os.Rename(part, target); err != nil {
		return process.ScratchFailure(part, err)
	}
	return nil
}

// findCommand finds a streaming program as Hadoop does (PathFinder): a name without a slash is a file in the task's
// folder, or else is searched for in PATH. Shipped scripts need no executable bit in Hadoop, so they need none here.
func (wk *work) findCommand(name, dir string, env []string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, name)
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return lookPath(name, dir, env)
	}
	rel, err := filepath.Rel(dir, path)
	shipped := err == nil && slices.ContainsFunc(wk.spec.MapReduce.Files, func(f job.ShipFile) bool { return filepath.Clean(f.Name) == rel })
	if st.Mode()&0o111 == 0 && shipped {
		return path, wk.makeExecutable(path, rel)
	}
	return path, nil
}

// makeExecutable replaces a shipped file in the task's folder by a link to an executable copy. The file itself belongs to
// the user and is not changed. The copy is made once for the job.
func (wk *work) makeExecutable(path, rel string) error {
	copied := filepath.Join(wk.dir, "programs", strings.ReplaceAll(rel, "/", "+"))
	err := wk.ship.once(copied, func() error { return copyProgram(path, copied) })
	if err == nil {
		err = wk.ship.link(copied, path)
	}
	if err != nil {
		return process.ScratchFailure(wk.dir, err)
	}
	return nil
}

// copyProgram writes the copy under another name and renames it, so that the program was never open for writing under its
// name.
func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(to, text, 0o700)
}
