package input

import (
	"context"
	"io"
	"os"

	"berth/internal/core/job"
)

// File is an input file that is open for reading.
type File interface {
	io.Reader // from the beginning
	io.ReaderAt
	io.Closer
	Name() string         // its path, for errors
	Size() (int64, error) // the present size in bytes
}

// Opener opens the file of a range of a split. index is the number of the range.
type Opener func(ctx context.Context, split job.Split, index int) (File, error)

// openHere is the Opener of files on this machine's file systems.
func openHere(_ context.Context, split job.Split, index int) (File, error) {
	return Open(split.Ranges[index].Path)
}

// Open opens a file on this machine's file systems. Its errors are those of an input file.
func Open(path string) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	return ownFile{file}, nil
}

// ownFile is a file on this machine's file systems.
type ownFile struct{ *os.File }

// Size returns the size of the file in bytes.
func (f ownFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, inputError(f.Name(), err)
	}
	return info.Size(), nil
}
