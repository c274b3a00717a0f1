package simulate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// output is a file that a simulation leaves behind, and what writes it.
type output struct {
	path  string
	write func(io.Writer) error
}

// bytesTo is an output that is there already.
func bytesTo(path string, data []byte) output {
	return output{path, func(w io.Writer) error { _, err := w.Write(data); return err }}
}

// writable reports a file that could not be written, before a simulation that may take long
// is spent on it; "" is none.
func writable(path string) error {
	if path == "" {
		return nil
	}
	path, kind := place(path)
	var err error
	switch {
	case kind.IsDir():
		err = unix.EISDIR
	case !kind.IsRegular():
		err = unix.Access(path, unix.W_OK)
	default:
		err = enterable(filepath.Dir(path))
	}
	if err != nil {
		return unwritten(path, err)
	}
	return nil
}

// place returns what a path leads to by links, and of what kind that is: a regular file
// where there is nothing yet.
func place(path string) (string, fs.FileMode) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		return path, info.Mode().Type()
	}
	return path, 0
}

// writableFolder does the same for a folder, which need not be there.
func writableFolder(path string) error {
	if path == "" {
		return nil
	}
	there := path
	for there != filepath.Dir(there) {
		if _, err := os.Lstat(there); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		there = filepath.Dir(there)
	}
	if err := enterable(there); err != nil {
		return unwritten(path, err)
	}
	return nil
}

// enterable tells whether files can be made in a folder.
func enterable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	return err
}

// leave writes files, and makes the folder that they are in where one is named: each is
// there whole and all of them are, or none is and nothing else, also where the command is
// told to end meanwhile. Devices and pipes are written to as they are.
func leave(parent context.Context, folder string, outputs []output) (err error) {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGTERM, os.Interrupt)
	defer stop()
	undo, err := makeFolder(folder)
	if err != nil {
		return unwritten(folder, err)
	}
	var files []pending
	defer func() {
		for _, f := range files {
			_ = f.Cleanup() // does nothing to a file that is in its place
		}
		if err != nil {
			undo()
		}
	}()
	for _, o := range outputs {
		if err := writable(o.path); err != nil {
			return err
		}
		f, err := begin(o.path)
		if err != nil {
			return unwritten(o.path, err)
		}
		files = append(files, f)
		if err := o.write(&until{ctx, f}); err != nil {
			return unwritten(o.path, err)
		}
	}
	for i, f := range files {
		if err := f.CloseAtomicallyReplace(); err != nil {
			return unwritten(outputs[i].path, err)
		}
	}
	return nil
}

// pending is a file that is being written.
type pending interface {
	io.Writer
	Cleanup() error
	CloseAtomicallyReplace() error
}

// begin begins a file aside of where it is to be.
func begin(path string) (pending, error) {
	path, kind := place(path)
	if !kind.IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return device{f}, err
	}
	return renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
}

// device is what cannot be replaced, and need not be.
type device struct{ *os.File }

func (d device) Cleanup() error                { return d.Close() }
func (d device) CloseAtomicallyReplace() error { return d.Close() }

// makeFolder makes a folder and those that it is in. What it returns takes those away again
// that were not there, as far as they are empty.
func makeFolder(path string) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range made {
			_ = os.Remove(dir)
		}
	}
	if path == "" {
		return undo, nil
	}
	for dir := filepath.Clean(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// until writes until a context ends.
type until struct {
	ctx context.Context
	to  io.Writer
}

func (u *until) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.to.Write(b)
}

// unwritten says why there is no such file, by its own name: it is written under another
// one first.
func unwritten(path string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	var of *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &of):
		err = of.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &job.Error{Class: job.User, Code: job.CodeIO, Where: path, What: "cannot write", Err: err}
}
