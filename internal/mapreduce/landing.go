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

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// An attempt on a machine that does not see the job's output folder writes its files to a local folder. The worker then sends them to the coordinator, which
// stores them in the attempt's temporary folder (CreateLeft) and commits them from there (CommitLeft), as if the attempt had written them itself.

// Left calls each for every file of a closed output: the part file, and the files that programs have written beside it. name is the path below the
// output folder, path is where the file is now.
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

// reserved matches the names that a program must not give to its files: those of parts and of berth's own files.
var reserved = regexp.MustCompile(`^(part-[0-9]{5,}|_SUCCESS|_temporary)(\.[a-z0-9]+)?$`)

// CreateLeft creates a file that an attempt sends, in the attempt's temporary folder. It returns an error for a name that the attempt must not write,
// for example the part of another task. index is the number of the task among the job's maps or reduces.
func CreateLeft(spec *job.MapReduceSpec, attempt job.Attempt, index int, name string) (*os.File, error) {
	part, err := partFile(spec, index)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(name, "/")
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name != part && reserved.MatchString(first) {
		return nil, fmt.Errorf("attempt %v must not write a file named %q", attempt, name)
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

// CommitLeft commits the files with these names that an attempt has sent, and syncs the output folder to the disk. Other files of the attempt are removed.
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
		return os.Remove(path) // it did not arrive completely
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return outputError(dir, err)
	}
	if err := promote(dir, spec.Output, ""); err != nil {
		return err
	}
	_ = os.Remove(dir) // if it is not empty, it is removed with _temporary
	return outputError(spec.Output, disk.Sync(spec.Output))
}

// DropLeft removes the files of an attempt that are not committed.
func DropLeft(spec *job.MapReduceSpec, attempt job.Attempt) error {
	dir := attemptDir(spec.Output, attempt)
	return outputError(dir, os.RemoveAll(dir))
}
