package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
)

// Folder is the private folder in which an attempt runs. It shows the contents of the job's folder
// and collects the task's output.
//
// It lies in the job's folder under a hidden name, so that each file is committed by one rename.
// The contents of the job's folder appear in it as symbolic links, with three exceptions. A file
// that the task's command names is copied, because programs such as gzip refuse links. Folders on
// the path to such files, and to files that the patterns match, are real folders with links in
// them. Files that the patterns match are left out, so that another attempt does not find earlier
// output.
type Folder struct {
	Dir      string // absolute
	of       string // the job's folder
	at       job.Attempt
	patterns []string
	named    []string            // by the task's command, relative to the job's folder
	copies   map[string]identity // by name, when they were copied
	own      map[string]bool     // real folders in Dir
	whole    []string            // folders that the task left and that a pattern names: what Left found
}

// identity tells whether a file is unchanged.
type identity struct {
	ino, size uint64
	mtime     unix.Timespec
}

// fillFolder creates the folder of an attempt in the job's folder dir. words are the words of the
// task's command. Words that are absolute paths, or do not name files, are ignored. For patterns
// see (*job.BagSpec).OutputPatterns.
func fillFolder(dir string, patterns, words []string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: folderName(dir, at), of: dir, at: at, copies: map[string]identity{}, own: map[string]bool{}}
	for _, p := range patterns {
		if rel, err := filepath.Rel(dir, p); err == nil && path.IsAbs(p) {
			p = rel
		}
		if !job.Below(p) {
			return nil, process.Failed("--outputs %s leads out of the job's folder %s", p, dir)
		}
		f.patterns = append(f.patterns, p)
	}
	for _, w := range words {
		if w = path.Clean(w); job.Below(w) {
			f.named = append(f.named, w)
		}
	}
	err := f.create()
	if err == nil {
		err = f.fill(".")
	}
	if err == nil {
		err = f.makeWays()
	}
	if err != nil {
		f.Drop()
		return nil, process.OutputError(f.Dir, err)
	}
	return f, nil
}

// newFolder creates the empty folder of an attempt in the job's folder dir.
func newFolder(dir string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: folderName(dir, at), of: dir, at: at}
	return f, process.OutputError(f.Dir, f.create())
}

func (f *Folder) create() error {
	if err := disk.RemoveTree(f.Dir); err != nil { // of an earlier attempt with the same number, whose record was lost
		return err
	}
	return os.Mkdir(f.Dir, 0o777)
}

// folderName returns the path of an attempt's folder in the job's folder dir. It is never the name of
// a part, as these have a number before ".part" (partName).
func folderName(dir string, at job.Attempt) string {
	return filepath.Join(dir, fmt.Sprintf(".%s.%d.%d.outputs.part", at.Job, at.Task, at.N))
}

// IsPart reports whether a name is that of a file or folder that an attempt of any job has not
// committed.
func IsPart(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".part")
}

// fill links the contents of one folder of the job's folder into Dir.
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

// put links or copies one file or folder of the job's folder into Dir.
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

// onTheWay reports whether the folder is on the path to a file that the command names or that a
// pattern may match.
func (f *Folder) onTheWay(name string) bool {
	if slices.ContainsFunc(f.named, func(n string) bool { return strings.HasPrefix(n, name+"/") }) {
		return true
	}
	depth := strings.Count(name, "/") + 1
	return slices.ContainsFunc(f.patterns, func(p string) bool {
		parts := strings.Split(p, "/")
		ok, _ := path.Match(path.Join(parts[:min(depth, len(parts))]...), name) // patterns were checked with the spec
		return ok && len(parts) > depth
	})
}

// matched reports whether any pattern matches the name.
func (f *Folder) matched(name string) bool {
	return slices.ContainsFunc(f.patterns, func(p string) bool { return match(p, name) })
}

// match reports whether the pattern matches, by the rules of a shell: a name that begins with a dot
// is matched only by a pattern that begins with a dot.
func match(pattern, name string) bool {
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

// makeWays creates the folders that patterns name and that the job's folder does not have, so that
// tasks need not create them.
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

// copy copies a file with its mode and times. On file systems that can do so the copy shares the
// blocks of the original.
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

// CopyFile creates a new file with the contents of another.
func CopyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // the file was only read
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

// Drop removes the folder with its contents.
func (f *Folder) Drop() {
	_ = disk.RemoveTree(f.Dir) // the folder is hidden; what cannot be removed now is removed by the next attempt or the next worker
}
