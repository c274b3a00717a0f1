package mapreduce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/disk"
	"berth/internal/job"
)

// MakeTaskOutputDir makes the folder of an attempt in which its programs may leave files
// (mapreduce.task.output.dir) and returns its path. They become part of the job's output
// with the attempt's part file.
func MakeTaskOutputDir(spec *job.MapReduceSpec, attempt job.Attempt) (string, error) {
	dir := attemptDir(spec.Output, attempt)
	return dir, outputError(dir, os.MkdirAll(dir, 0o777))
}

// promote moves what is below the folder from into the folder to, but for the file
// skipped: files are made durable and replace those of their names, folders are merged.
// What was moved by an attempt that died on the way is moved again by the next one.
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
