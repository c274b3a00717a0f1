package extsort

import (
	"errors"
	"os"
)

// File is a scratch file of sorted records, or a segment of such a file: the part with the records
// of one partition.
type File struct {
	path     string
	segments []segment // of the partitions
	size     int64
	part     bool // it is a segment of another file, whose owner removes it
}

// newSegment describes the segment at an extent of the file at path.
func newSegment(path string, e Extent, stat segmentStat) *File {
	return &File{path: path, segments: []segment{{e, stat}}, size: e.Length, part: true}
}

// OpenSegment returns the segment of length bytes at offset of the file at path. It reads and checks
// only the end block.
func OpenSegment(path string, offset, length int64) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	e := Extent{offset, length}
	stat, err := readStat(f, e)
	if err != nil {
		return nil, err
	}
	return newSegment(path, e, stat), nil
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Size returns the size of the file or segment, in bytes.
func (f *File) Size() int64 { return f.size }

// Records returns the number of records, with each repeat counted.
func (f *File) Records() (sum int64) {
	for i := range f.segments {
		sum += f.segments[i].Records
	}
	return sum
}

// LineBytes returns the size of the lines with their newlines in bytes, with each repeat counted.
func (f *File) LineBytes() (sum int64) {
	for i := range f.segments {
		sum += f.segments[i].Bytes
	}
	return sum
}

// remove deletes the file. Of a segment it deletes nothing.
func (f *File) remove() error {
	if f.part {
		return nil
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return ScratchError(f.path, err)
	}
	return nil
}

func removeAll(files []*File) error {
	for _, f := range files {
		if err := f.remove(); err != nil {
			return err
		}
	}
	return nil
}

// FileError is returned if a file cannot be read or is damaged.
type FileError struct {
	File *File
	Err  error
}

func (e *FileError) Error() string { return e.File.path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }
