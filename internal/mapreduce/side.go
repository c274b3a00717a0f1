package mapreduce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// MakeTaskOutputDir creates the folder in which the programs of an attempt may write files
// (mapreduce.task.output.dir) and returns its path. The files are committed to the job's output together
// with the attempt's part file.
func MakeTaskOutputDir(spec *job.MapReduceSpec, attempt job.Attempt) (string, error) {
	dir := attemptDir(spec.Output, attempt)
	return dir, outputError(dir, os.MkdirAll(dir, 0o777))
}

// promote moves the content of the folder from into the folder to, except the file skipped. Files are
// synced to the disk and replace files of the same name. Folders are merged. If an attempt is lost in
// between, the next attempt moves its own files over those that were moved.
func promote(from, to, skipped string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return outputError(from, err)
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case source == skipped:
			continue
		case e.IsDir():
			err = promoteDir(source, target)
		case e.Type().IsRegular():
			err = errors.Join(disk.Sync(source), os.Rename(source, target))
		default:
			err = os.Rename(source, target)
		}
		if err != nil {
			return outputError(target, err)
		}
	}
	return nil
}

func promoteDir(from, to string) error {
	if err := os.Mkdir(to, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := promote(from, to, ""); err != nil {
		return err
	}
	return errors.Join(disk.Sync(to), os.Remove(from))
}
