package process

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// The functions of this file serve tasks whose job's folder is on another machine. There the task's
// folder is filled with the files that were sent (FilledFolder). On the machine of the job's folder
// the task's output arrives in a folder made by ReceiveFolder.

// FilledFolder returns the Folder for an existing folder dir that contains the files sent for a
// task. For patterns see (*job.BagSpec).OutputPatterns.
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
		if slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) }) {
			return true
		}
	}
	return false
}

// ReceiveFolder creates the folder that receives an attempt's files, inside the job's folder dir.
func ReceiveFolder(dir string, at job.Attempt) (*Folder, error) {
	f := &Folder{Dir: FolderName(dir, at), of: dir, at: at}
	err := disk.RemoveTree(f.Dir) // of an earlier attempt with the same number, whose record was lost
	if err == nil {
		err = os.Mkdir(f.Dir, 0o777)
	}
	if err != nil {
		return nil, OutputError(f.Dir, err)
	}
	return f, nil
}

// Receive creates a file of this name in the folder and opens it for writing.
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

// MakeExecutable makes the open file executable for everyone who may read it.
func (a *Output) MakeExecutable() error {
	var st unix.Stat_t
	if err := unix.Fstat(a.FD, &st); err != nil {
		return err
	}
	return unix.Fchmod(a.FD, st.Mode&0o777|st.Mode&0o444>>2)
}

// Path returns the final path of the output, or "" if it has none.
func (a *Output) Path() string { return a.path }

// DropParts removes the temporary files of a task's attempts for the output path, up to the number
// last, except that of at.
func DropParts(path string, at job.Attempt, last int) {
	o := Output{path: path}
	o.DropOthers(at, last)
}
