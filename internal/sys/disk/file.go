package disk

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
)

// File is a file that is to have another name elsewhere.
type File struct {
	Name string // where it is to be, in the words of the place
	Path string // where it is
}

// Files returns the regular files below a folder, by their paths below it. There are none in a folder that is missing.
func Files(dir string) (files []File, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, File{Name: name, Path: path})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return files, err
}

// Incoming is a file that arrives from another machine.
type Incoming interface {
	Name() string
	io.WriteCloser // Close completes the file
	Drop()         // removes it, as it did not arrive completely
}
