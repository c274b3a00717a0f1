package mapreduce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"berth/internal/disk"
	"berth/internal/job"
)

// An attempt whose machine does not see the job's output folder writes to a folder of its own there. What it leaves arrives here, in the folder in
// which it would have written it, and goes into place as that would.

// Left calls each with every file that an attempt leaves whose output is closed: its part and what its programs left beside it, by their names below
// the output folder and by where they are.
func (o *Output) Left(each func(name, path string) error) error {
	err := filepath.WalkDir(o.aside, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(o.aside, path)
		if err != nil {
			return err
		}
		return each(name, path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written, and LazyOutput
	}
	return err
}

// reserved are names that no file has which a program leaves: those of parts, and of what is berth's own.
var reserved = regexp.MustCompile(`^(part-[0-9]{5,}|_SUCCESS|_temporary)(\.[a-z0-9]+)?$`)

// CreateLeft makes the file of that name that an attempt has left. A name that cannot be the attempt's own is refused, as that of another task's part.
// index is the task's among the job's maps or reduces.
func CreateLeft(spec *job.MapReduceSpec, attempt job.Attempt, index int, name string) (*os.File, error) {
	part, err := partFile(spec, index)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(name, "/")
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name != part && reserved.MatchString(first) {
		return nil, fmt.Errorf("%q is no name of what attempt %v leaves", name, attempt)
	}
	path := filepath.Join(attemptDir(spec.Output, attempt), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, outputError(path, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, outputError(path, err)
	}
	if mode := fs.FileMode(spec.PartMode).Perm(); name == part && mode != 0 {
		if err := file.Chmod(mode); err != nil {
			return nil, outputError(path, errors.Join(err, file.Close()))
		}
	}
	return file, nil
}

// partFile returns the name of the part file of a partition, or of a map without reduces.
func partFile(spec *job.MapReduceSpec, n int) (string, error) {
	c, err := fileCodec(spec)
	if err != nil || c == nil {
		return partName(n), err
	}
	return partName(n) + c.Suffix, nil
}

// CommitLeft puts what an attempt left into place, files of these names, and makes that durable.
func CommitLeft(spec *job.MapReduceSpec, attempt job.Attempt, names []string) error {
	dir := attemptDir(spec.Output, attempt)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || slices.Contains(names, name) {
			return err
		}
		return os.Remove(path) // it did not arrive whole
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outputError(dir, err)
	}
	if err := promote(dir, spec.Output, ""); err != nil {
		return err
	}
	_ = os.Remove(dir) // what stays behind goes with _temporary
	return outputError(spec.Output, disk.Sync(spec.Output))
}

// DropLeft removes what an attempt left and was not put into place.
func DropLeft(spec *job.MapReduceSpec, attempt job.Attempt) error {
	dir := attemptDir(spec.Output, attempt)
	return outputError(dir, os.RemoveAll(dir))
}
