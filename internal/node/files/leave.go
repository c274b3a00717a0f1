package files

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/node/process"
)

// Left returns the files that the task left for the patterns, as sorted names relative to the job's
// folder. If a pattern matches a folder, all files in it are returned. A pattern without a match is
// a failure of the task. Files that the task found and did not change are not returned.
func (f *Folder) Left() ([]string, error) {
	var left []string
	for _, p := range f.patterns {
		names, err := fs.Glob(os.DirFS(f.Dir), p)
		if err != nil {
			return nil, process.Failed("--outputs %s: %v", p, err)
		}
		n := len(left)
		for _, name := range names {
			if !match(p, name) || f.own[name] {
				continue
			}
			before := len(left)
			if left, err = f.gather(left, name); err != nil {
				return nil, process.OutputError(f.Dir, err)
			}
			if len(left) > before && left[before] != name {
				f.whole = append(f.whole, name)
			}
		}
		if len(left) == n {
			return nil, process.Failed("the task left nothing that matches --outputs %s; it ran in a folder of its own, of which only that is kept", p)
		}
	}
	slices.Sort(left)
	return slices.Compact(left), nil
}

// gather appends a file that the task left, or all files in a folder.
func (f *Folder) gather(left []string, name string) ([]string, error) {
	err := filepath.WalkDir(filepath.Join(f.Dir, name), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if rel := strings.TrimPrefix(file, f.Dir+"/"); f.isOutput(rel, e.Type()) {
			left = append(left, rel)
		}
		return nil
	})
	return left, err
}

// isOutput reports whether the task created or changed the file.
func (f *Folder) isOutput(name string, kind fs.FileMode) bool {
	file := filepath.Join(f.Dir, name)
	was, found := f.copies[name]
	if is, err := identify(file); err != nil || found && is == was {
		return false
	}
	switch kind {
	case fs.ModeSymlink:
		to, err := os.Readlink(file)
		return err == nil && to != filepath.Join(f.of, name)
	case 0:
		return true
	default: // for example a pipe or a socket
		return false
	}
}

// maxForeign is at how many files Foreign looks.
const maxForeign = 10_000

// Foreign returns the files that are in the folders that the task left and were there before the job, which began then: the folders are not the
// result of the job alone. Nothing tells whose files these are, so they stay. first reports whether nobody has looked into a folder.
func (f *Folder) Foreign(began time.Time, first func(dir string) bool) (names []string) {
	looked := 0
	for _, dir := range f.whole {
		if !first(filepath.Join(f.of, dir)) {
			continue
		}
		_ = filepath.WalkDir(filepath.Join(f.of, dir), func(file string, e fs.DirEntry, err error) error {
			var st unix.Stat_t
			if looked++; err != nil || looked > maxForeign {
				return fs.SkipAll
			}
			if !e.IsDir() && !IsPart(e.Name()) && unix.Lstat(file, &st) == nil && time.Unix(st.Ctim.Unix()).Before(began) {
				names = append(names, strings.TrimPrefix(file, f.of+"/"))
			}
			return nil
		})
	}
	return names
}

// Commit moves the files to their final names in this order, each by one rename. After a crash in
// between, another attempt writes all of them again.
func (f *Folder) Commit(names []string, d *Durable) error {
	for _, name := range names {
		from := Output{part: filepath.Join(f.Dir, name), path: filepath.Join(f.of, name)}
		if err := f.move(&from); err != nil {
			return process.OutputError(from.path, err)
		}
		d.Note(&from)
	}
	return nil
}

// keep moves a file beside its final name, for a job that may not put it there, and returns its path.
func (f *Folder) keep(name string) (string, error) {
	path := filepath.Join(f.of, name)
	part := partName(path, f.at)
	return part, process.OutputError(path, f.move(&Output{part: filepath.Join(f.Dir, name), path: part}))
}

// move renames a file to its final name. If the destination is on another file system, it renames a
// copy that it made beside the destination.
func (f *Folder) move(o *Output) error {
	var st unix.Stat_t
	if err := unix.Lstat(o.part, &st); err != nil {
		return err
	}
	o.dev = st.Dev
	err := os.Rename(o.part, o.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path.Dir(o.path), 0o777); err == nil {
			err = os.Rename(o.part, o.path)
		}
	}
	if !errors.Is(err, unix.EXDEV) || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return err
	}
	near := partName(o.path, f.at)
	_ = os.Remove(near) // of an earlier attempt with the same number, whose record was lost
	if err = CopyFile(o.part, near, fs.FileMode(st.Mode&0o777)); err == nil {
		err = os.Rename(near, o.path)
	}
	if err != nil {
		_ = os.Remove(near)
	}
	return err
}
