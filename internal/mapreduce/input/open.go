package input

import (
	"context"
	"errors"
	"io"
	"os"

	"berth/internal/core/job"
)

// File is an input file that is open for reading.
type File interface {
	io.ReaderAt
	io.Closer
	Name() string // its path, for errors
	Size() int64  // the present size in bytes
}

// Opener opens the file of a range of a split. index is the number of the range.
type Opener func(ctx context.Context, split job.Split, index int) (File, error)

// openHere is the Opener of files on this machine's file systems.
func openHere(_ context.Context, split job.Split, index int) (File, error) {
	return Open(split.Ranges[index])
}

// Open opens the file of a range on this machine's file systems. It returns an error if the file is not the one that was listed when the
// job was planned, and so does Close if the file has changed meanwhile. Its errors are those of an input file.
func Open(r job.Range) (File, error) {
	file, err := os.Open(r.Path)
	if err != nil {
		return nil, inputError(r.Path, err)
	}
	f := ownFile{file, r}
	if err := f.check(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// ownFile is a file on this machine's file systems.
type ownFile struct {
	*os.File
	is job.Range // says what the file is
}

// Size returns the size of the file in bytes.
func (f ownFile) Size() int64 { return f.is.Size }

// Close closes the file. It returns an error if what was read may not be what was listed.
func (f ownFile) Close() error { return errors.Join(f.check(), f.File.Close()) }

// Checked returns the file as one that checks after each read that the file has not changed, for bytes that are used before it is closed.
func Checked(file File) io.ReaderAt { return checked{file} }

type checked struct{ File }

// ReadAt reads at an offset.
func (c checked) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(p, off)
	if own, ok := c.File.(ownFile); ok {
		if err := own.check(); err != nil {
			return 0, err
		}
	}
	return n, err
}
