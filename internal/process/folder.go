package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/disk"
	"berth/internal/job"
)

// Folder is a folder of a task's own, in which it finds the job's folder and leaves what is its alone.
//
// It lies in the job's folder under a hidden name, so that one rename puts each file into place. What is in the job's folder
// is in it as symbolic links, with three exceptions: a file that the task's command names is a copy, as gzip and its like take
// no links; folders on the way to such files, and to what the patterns say, are folders of its own, with links in them; and what
// the patterns match is not there, so that a task that is done again does not meet what it left before.
type Folder struct {
	Dir      string // absolute
	of       string // the job's folder
	at       job.Attempt
	patterns []string
	named    []string            // by the task's command, relative to the job's folder
	copies   map[string]identity // by name, as they were made
	own      map[string]bool     // folders of its own
}

// identity tells whether a file is the one that it was.
type identity struct {
	ino, size uint64
	mtime     unix.Timespec
}

// MakeFolder makes the folder of an attempt in the job's folder dir. words are what the task's command says of itself; those
// that are absolute, or no files, mean nothing here. The patterns are those of (*job.BagSpec).OutputPatterns.
func MakeFolder(dir string, patterns, words []string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: FolderName(dir, at), of: dir, at: at, copies: map[string]identity{}, own: map[string]bool{}}
	for _, p := range patterns {
		if rel, err := filepath.Rel(dir, p); err == nil && path.IsAbs(p) {
			p = rel
		}
		if !job.Below(p) {
			return nil, Failed("--outputs %s leads out of the job's folder %s", p, dir)
		}
		f.patterns = append(f.patterns, p)
	}
	for _, w := range words {
		if w = path.Clean(w); job.Below(w) {
			f.named = append(f.named, w)
		}
	}
	err := disk.RemoveTree(f.Dir) // of an attempt of that number whose record was lost
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777)
	}
	if err == nil {
		err = f.fill(".")
	}
	if err == nil {
		err = f.makeWays()
	}
	if err != nil {
		f.Drop()
		return nil, OutputError(f.Dir, err)
	}
	return f, nil
}

// FolderName is where an attempt at a task of a job in dir has a folder of its own.
func FolderName(dir string, at job.Attempt) string {
	return partName(filepath.Join(dir, "outputs"), at, at.N)
}

// DropOtherFolders removes the folders of the task's other attempts, up to that number.
func DropOtherFolders(dir string, at job.Attempt, last int) {
	for n := 1; n <= last; n++ {
		if n != at.N {
			_ = disk.RemoveTree(FolderName(dir, job.Attempt{Job: at.Job, Task: at.Task, N: n})) // mostly there is none
		}
	}
}

// IsPart reports whether a name is that of something that an attempt of any job has not put into place.
func IsPart(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".part")
}

// fill puts into one of its folders what the job's folder has there.
func (f *Folder) fill(folder string) error {
	f.own[folder] = true
	entries, err := os.ReadDir(filepath.Join(f.of, folder))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if IsPart(e.Name()) {
			continue
		}
		if err := f.put(name); err != nil {
			return err
		}
	}
	return nil
}

// put puts one file or folder of the job's into the task's.
func (f *Folder) put(name string) error {
	from, to := filepath.Join(f.of, name), filepath.Join(f.Dir, name)
	if f.onTheWay(name) {
		if st, err := os.Stat(from); err == nil && st.IsDir() {
			if err := os.Mkdir(to, 0o777); err != nil {
				return err
			}
			return f.fill(name)
		}
	}
	if slices.Contains(f.named, name) {
		if st, err := os.Stat(from); err == nil && st.Mode().IsRegular() {
			return f.copy(name, st)
		}
	}
	if f.matched(name) {
		return nil
	}
	return os.Symlink(from, to)
}

// onTheWay reports whether a folder of that name leads to what the command names, or what a pattern may match.
func (f *Folder) onTheWay(name string) bool {
	for _, n := range f.named {
		if strings.HasPrefix(n, name+"/") {
			return true
		}
	}
	depth := strings.Count(name, "/") + 1
	for _, p := range f.patterns {
		parts := strings.Split(p, "/")
		if len(parts) <= depth {
			continue
		}
		if ok, _ := path.Match(path.Join(parts[:depth]...), name); ok { // the spec was checked
			return true
		}
	}
	return false
}

// matched reports whether a pattern matches the name.
func (f *Folder) matched(name string) bool {
	return slices.ContainsFunc(f.patterns, func(p string) bool { return Match(p, name) })
}

// Match reports whether the pattern matches, as a shell does it: a name that begins with a point is meant only by a
// pattern that begins with one.
func Match(pattern, name string) bool {
	if ok, _ := path.Match(pattern, name); !ok {
		return false
	}
	parts, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range parts {
		if strings.HasPrefix(names[i], ".") && !strings.HasPrefix(parts[i], ".") && !strings.HasPrefix(parts[i], `\.`) {
			return false
		}
	}
	return true
}

// makeWays makes the folders that patterns name and the job's folder does not have, so that the task need not.
func (f *Folder) makeWays() error {
	for _, p := range f.patterns {
		dir := path.Dir(p)
		if i := strings.IndexAny(dir, `*?[\`); i >= 0 {
			dir = path.Dir(dir[:i] + "x")
		}
		if err := os.MkdirAll(filepath.Join(f.Dir, dir), 0o777); err != nil {
			return err
		}
		for ; dir != "." && !f.own[dir]; dir = path.Dir(dir) {
			f.own[dir] = true
		}
	}
	return nil
}

// copy puts a copy of a file there, which shares its blocks on file systems that can do that, with its mode and times.
func (f *Folder) copy(name string, st fs.FileInfo) error {
	to := filepath.Join(f.Dir, name)
	if err := CopyFile(filepath.Join(f.of, name), to, st.Mode().Perm()|0o200); err != nil {
		return err
	}
	if err := errors.Join(os.Chtimes(to, st.ModTime(), st.ModTime()), os.Chmod(to, st.Mode().Perm())); err != nil {
		return err
	}
	id, err := identify(to)
	f.copies[name] = id
	return err
}

// CopyFile makes a new file with the bytes of another.
func CopyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) != nil {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Close())
}

func identify(file string) (identity, error) {
	var st unix.Stat_t
	err := unix.Lstat(file, &st)
	return identity{st.Ino, uint64(st.Size), st.Mtim}, err
}

// Drop removes the folder with all that is in it.
func (f *Folder) Drop() {
	_ = disk.RemoveTree(f.Dir) // it is hidden; what stays there is removed with the next attempt, or the next worker
}
