package process

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"berth/internal/disk"
	"berth/internal/job"
)

// This file is about folders of tasks whose job's folder is on another machine: there the task's folder is filled with what was sent (FilledFolder), and on the
// machine of the job's folder what the task left arrives in one of that kind (ReceiveFolder).

// FilledFolder takes up a folder dir in which a task is to run and that holds what was sent for it. The patterns are those of (*job.BagSpec).OutputPatterns.
func FilledFolder(dir string, patterns []string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: dir, of: dir, at: at, patterns: patterns, copies: map[string]identity{}, own: map[string]bool{}}
	if err := f.makeWays(); err != nil {
		return nil, ScratchFailure(dir, err)
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
		return nil, ScratchFailure(dir, err)
	}
	return f, nil
}

// Extra returns up to so many names of files that the task left or changed and that no pattern says, sorted: whoever does not say what tasks leave
// has to be told that they are not kept. Hidden names do not count, nor what interpreters keep for themselves.
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

// Leaves reports whether patterns, as (*job.BagSpec).OutputPatterns returns them, say that a task leaves a file of that name, itself or in a folder.
func Leaves(patterns []string, name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) }) {
			return true
		}
	}
	return false
}

// ReceiveFolder makes the folder in which what an attempt left arrives, beside its place in the job's folder dir.
func ReceiveFolder(dir string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: FolderName(dir, at), of: dir, at: at}
	err := disk.RemoveTree(f.Dir) // of an attempt of that number whose record was lost
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777)
	}
	if err != nil {
		return nil, OutputError(f.Dir, err)
	}
	return f, nil
}

// Receive makes a file of that name in the folder, open for writing.
func (f *Folder) Receive(name string) (*Output, error) {
	o := &Output{Part: filepath.Join(f.Dir, name), path: filepath.Join(f.of, name)}
	var err error
	if o.FD, err = create(o.Part); errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(o.Part), 0o777); err == nil {
			o.FD, err = create(o.Part)
		}
	}
	return o, OutputError(o.path, err)
}

// Write appends all of p.
func (a *Output) Write(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := unix.Write(a.FD, p[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		n += m
	}
	return n, nil
}

// MakeExecutable lets the file, which is open, be run by those who may read it.
func (a *Output) MakeExecutable() error {
	var st unix.Stat_t
	if err := unix.Fstat(a.FD, &st); err != nil {
		return err
	}
	return unix.Fchmod(a.FD, st.Mode&0o777|st.Mode&0o444>>2)
}

// Path returns where the output goes; empty: it has no place of its own.
func (a *Output) Path() string { return a.path }

// DropParts removes what attempts of a task, up to that number but for at itself, have where they wrote the output that goes to path.
func DropParts(path string, at job.Attempt, last int) {
	o := Output{path: path}
	o.DropOthers(at, last)
}
