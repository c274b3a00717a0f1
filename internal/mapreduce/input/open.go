package input

import (
	"context"
	"io"
	"os"

	"berth/internal/job"
)

// File is an input file that is open for reading.
type File interface {
	io.Reader // from the beginning on
	io.ReaderAt
	io.Closer
	Name() string         // its path, for errors
	Size() (int64, error) // bytes that it has now
}

// Opener opens the file of a split's range, by the index of the range.
type Opener func(ctx context.Context, split job.Split, index int) (File, error)

// openHere is the Opener of files that this machine sees.
func openHere(_ context.Context, split job.Split, index int) (File, error) {
	return Open(split.Ranges[index].Path)
}

// Open opens a file of this machine. Errors are those of input.
func Open(path string) (File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	return ownFile{file}, nil
}

// ownFile is a file of this machine.
type ownFile struct{ *os.File }

// Size returns how many bytes the file has.
func (f ownFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, inputError(f.Name(), err)
	}
	return info.Size(), nil
}
