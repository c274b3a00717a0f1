package simulation

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

	"berth/internal/core/job"
)

// Output is an output file and the function that writes it.
type Output struct {
	Path  string
	Write func(io.Writer) error
}

// Writable returns an error if the file could not be written. It is called before a simulation,
// which may take long. "" means no file.
func Writable(path string) error {
	if path == "" {
		return nil
	}
	path, kind := resolve(path)
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

// resolve returns the target of a path after following links, and its type. A path that does not
// exist counts as a regular file.
func resolve(path string) (string, fs.FileMode) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		return path, info.Mode().Type()
	}
	return path, 0
}

// WritableFolder is Writable for a folder, which need not exist.
func WritableFolder(path string) error {
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

// enterable returns an error if no file can be created in a folder.
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

// Leave writes files, and creates their folder if one is named. Either all files are written
// completely or none, even if the command is interrupted. Devices and pipes are written directly.
func Leave(parent context.Context, folder string, outputs []Output) (err error) {
	ctx, stop := signal.NotifyContext(parent, syscall.SIGTERM, os.Interrupt)
	defer stop()
	undo, err := makeFolder(folder)
	if err != nil {
		return unwritten(folder, err)
	}
	var files []pending
	defer func() {
		for _, f := range files {
			_ = f.drop() // has no effect on a file that has been renamed
		}
		if err != nil {
			undo()
		}
	}()
	for _, o := range outputs {
		if err := Writable(o.Path); err != nil {
			return err
		}
		f, err := begin(o.Path)
		if err != nil {
			return unwritten(o.Path, err)
		}
		files = append(files, f)
		if err := o.Write(&until{ctx, f}); err != nil {
			return unwritten(o.Path, err)
		}
	}
	for i, f := range files {
		if err := f.keep(); err != nil {
			return unwritten(outputs[i].Path, err)
		}
	}
	return nil
}

// pending is a file that is being written.
type pending struct {
	io.Writer
	keep, drop func() error
}

// begin begins a temporary file beside the path. A device or a pipe cannot be replaced and need not be.
func begin(path string) (pending, error) {
	path, kind := resolve(path)
	if !kind.IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return pending{f, f.Close, f.Close}, err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	return pending{f, f.CloseAtomicallyReplace, f.Cleanup}, err
}

// makeFolder creates a folder and its parents. undo removes those that it created, if they are
// empty.
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

// unwritten returns the error for a file that could not be written, with the file's own name instead
// of that of the temporary file.
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
	return job.IOError(job.User, path, "cannot write", err)
}
