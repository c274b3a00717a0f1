package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
)

// The functions of this file serve tasks whose job's folder is on another machine or another disk. There the task's
// folder is filled with the files that were sent (FilledFolder). Where the job's folder is
// the task's output arrives in a folder that newFolder makes.

// FilledFolder returns the Folder for an existing folder dir that contains the files sent for a
// task. For patterns see (*job.BagSpec).OutputPatterns.
func FilledFolder(dir string, patterns []string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: dir, of: dir, at: at, patterns: patterns, copies: map[string]identity{}, own: map[string]bool{}}
	if err := f.makeWays(); err != nil {
		return nil, process.ScratchFailure(dir, err)
	}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		if e.IsDir() {
			f.own[rel] = true
			return nil
		}
		f.copies[rel], err = identify(file)
		return err
	})
	if err != nil {
		return nil, process.ScratchFailure(dir, err)
	}
	return f, nil
}

// isApart reports whether the folder is a FilledFolder.
func (f *Folder) isApart() bool { return f.Dir == f.of }

// bring copies what the task left in a folder apart from the job's into one in the job's folder, which becomes the attempt's folder.
func (b *Bag) bring(ctx context.Context, left []disk.File) error {
	whole := b.Folder.whole
	b.Folder = nil
	for _, f := range left {
		if err := b.bringFile(ctx, f); err != nil {
			return err
		}
		b.Folder.whole = whole
	}
	return nil
}

// bringFile copies a file with its mode. A symbolic link stays one.
func (b *Bag) bringFile(ctx context.Context, f disk.File) error {
	if to, err := os.Readlink(f.Path); err == nil {
		return b.bringLink(f.Name, to)
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return unread(err)
	}
	defer in.Close() // only read
	st, err := in.Stat()
	if err != nil {
		return unread(err)
	}
	out, err := b.Receive(f.Name, false)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = in.Close() }) // ends the copy
	err = os.Chmod(filepath.Join(b.Folder.Dir, f.Name), st.Mode().Perm())
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if !stop() {
		err = context.Cause(ctx)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		out.Drop()
		if e := new(fs.PathError); errors.As(err, &e) && e.Path == f.Path {
			return unread(err)
		}
		return process.OutputError(out.Name(), err)
	}
	return nil
}

func (b *Bag) bringLink(name, to string) error {
	if err := b.arrives(name); err != nil {
		return err
	}
	link := filepath.Join(b.Folder.Dir, name)
	return process.OutputError(link, errors.Join(os.MkdirAll(filepath.Dir(link), 0o777), os.Symlink(to, link)))
}

// unread returns the error for a file on a disk apart from that of the job's folder: another node may do the task.
func unread(err error) error {
	return process.DiskFailure("what the task left cannot be read: %v", err)
}

// Extra returns at most `most` sorted names of files that the task left or changed and that no
// pattern matches. The user is told that they are not kept. Hidden files and caches of interpreters
// are ignored.
func (f *Folder) Extra(most int) []string {
	var extra []string
	_ = filepath.WalkDir(f.Dir, func(file string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(f.Dir, file)
		switch {
		case err != nil || name == ".":
			return nil
		case e.Name()[0] == '.' || e.Name() == "__pycache__":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.IsDir() && f.isOutput(name, e.Type()):
			extra = append(extra, name)
			if len(extra) == most {
				return fs.SkipAll
			}
		}
		return nil
	})
	return extra
}

// Leaves reports whether the patterns, as returned by (*job.BagSpec).OutputPatterns, match the file
// name or a folder that contains it.
func Leaves(patterns []string, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if slices.ContainsFunc(patterns, func(p string) bool { return match(p, name) }) {
			return true
		}
	}
	return false
}

// receive creates a file of this name in the folder and opens it for writing.
func (f *Folder) receive(name string, run bool) (*Output, error) {
	o, err := createOutput(filepath.Join(f.of, name), filepath.Join(f.Dir, name))
	if err != nil || !run {
		return o, err
	}
	var st unix.Stat_t
	err = unix.Fstat(o.FD, &st)
	if err == nil {
		err = unix.Fchmod(o.FD, st.Mode&0o777|st.Mode&0o444>>2) // for everyone who may read it
	}
	return o, process.OutputError(o.path, err)
}
