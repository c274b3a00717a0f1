package extsort

import (
	"errors"
	"os"
)

// File is a scratch file of sorted records, or a segment: a part of another such file that
// holds one partition.
type File struct {
	path    string
	extents []Extent // of the partitions
	stats   []segmentStat
	size    int64
	segment bool // whoever made the file that it is a part of removes it
}

// newSegment describes the segment at an extent of the file at path.
func newSegment(path string, e Extent, stat segmentStat) *File {
	return &File{path: path, extents: []Extent{e}, stats: []segmentStat{stat}, size: e.Length, segment: true}
}

// OpenSegment describes the segment of length bytes at offset of the file at path, and checks its end.
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

// Path returns where the file is.
func (f *File) Path() string { return f.path }

// Size returns the bytes of the file or segment.
func (f *File) Size() int64 { return f.size }

// Records returns how many records it holds, repeats counted.
func (f *File) Records() (sum int64) {
	for i := range f.stats {
		sum += f.stats[i].records
	}
	return sum
}

// LineBytes returns the bytes of its lines with their newlines, repeats counted.
func (f *File) LineBytes() (sum int64) {
	for i := range f.stats {
		sum += f.stats[i].bytes
	}
	return sum
}

// remove deletes the file, but not that of a segment.
func (f *File) remove() error {
	if f.segment {
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

func sumOfSizes(files []*File) (sum int64) {
	for _, f := range files {
		sum += f.size
	}
	return sum
}

// FileError is that a file cannot be read, or is damaged.
type FileError struct {
	File *File
	Err  error
}

func (e *FileError) Error() string { return e.File.path + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }
