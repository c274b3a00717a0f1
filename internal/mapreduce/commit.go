package mapreduce

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/sys/disk"
)

// successName is the name of the empty file that marks a job's output as complete.
const successName = "_SUCCESS"

// PrepareOutput creates the output folder of a job, to which it then belongs. It returns an error if the folder exists already.
func PrepareOutput(spec *job.MapReduceSpec, id job.ID) error {
	if job.IsObject(spec.Output) {
		return prepareObjects(spec)
	}
	parent := filepath.Dir(filepath.Clean(spec.Output))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return outputError(parent, err)
	}
	err := os.Mkdir(spec.Output, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return outputExists(spec.Output)
	}
	if err != nil {
		return outputError(spec.Output, err)
	}
	if err := claimOutput(spec, id); err != nil {
		return errors.Join(err, os.Remove(spec.Output))
	}
	return nil
}

// CheckOutput returns an error if the job's output folder exists already. It creates nothing.
func CheckOutput(ctx context.Context, spec *job.MapReduceSpec) error {
	if job.IsObject(spec.Output) {
		return checkObjects(ctx, spec)
	}
	_, err := os.Lstat(spec.Output)
	if err == nil {
		return outputExists(spec.Output)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return outputError(spec.Output, err)
}

func outputExists(path string) error {
	return job.OutputError(path, "the output exists already", "remove it or name another folder")
}

// CommitJob completes the job's output once every part is committed: it removes the temporary files
// of attempts and then creates _SUCCESS. It may be called again. The output folder may be missing, as
// a job need not have written any part. It must not belong to another job. maps is the number of map tasks, which is the number of parts
// of a job without reduces. If a part was removed meanwhile, CommitJob returns an error.
func CommitJob(spec *job.MapReduceSpec, id job.ID, maps int) error {
	if job.IsObject(spec.Output) {
		return commitObjects(spec, maps)
	}
	success := filepath.Join(spec.Output, successName)
	if _, err := os.Lstat(success); err == nil {
		return nil // the job was committed before; parts may have been removed since
	}
	exists := func(part string) error {
		_, err := os.Lstat(filepath.Join(spec.Output, part))
		return err
	}
	if err := checkOwner(spec, id); err != nil {
		return err
	}
	if err := checkParts(spec, maps, exists); err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Output, 0o777); err != nil {
		return outputError(spec.Output, err)
	}
	if err := removeTemporary(spec); err != nil {
		return err
	}
	file, err := os.OpenFile(success, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return outputError(success, err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return outputError(success, err)
	}
	return outputError(spec.Output, disk.Sync(spec.Output))
}

// checkParts returns an error if a part is missing. A lazy output may lack any part. exists returns
// fs.ErrNotExist for a missing part.
func checkParts(spec *job.MapReduceSpec, maps int, exists func(part string) error) error {
	if spec.LazyOutput {
		return nil
	}
	parts := maps
	if spec.Reduces > 0 {
		parts = spec.Reduces
	}
	for n := range parts {
		name, err := partFile(spec, n)
		if err != nil {
			return err
		}
		part := spec.Output + "/" + name
		if err := exists(name); errors.Is(err, fs.ErrNotExist) {
			return job.IOError(job.User, part, "was removed while the job ran", nil).Advice(job.SubmitAgain)
		} else if err != nil {
			return outputError(part, err)
		}
	}
	return nil
}

// AbortJob removes the temporary files of the attempts of a stopped job, and leaves those of another job to which the output belongs now. Committed parts stay,
// without _SUCCESS, as the job can be resumed. An output folder without any part is removed, so that
// the same command can be given again. AbortJob may be called again, and before a resume.
func AbortJob(spec *job.MapReduceSpec, id job.ID) error {
	if job.IsObject(spec.Output) {
		return abortObjects(spec)
	}
	if err := checkOwner(spec, id); job.CodeOf(err) == job.CodeOutputExists {
		return nil
	}
	if err := removeTemporary(spec); err != nil {
		return err
	}
	left, err := os.ReadDir(spec.Output)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return outputError(spec.Output, err)
	case len(left) > 0:
		return nil
	}
	return outputError(spec.Output, os.Remove(spec.Output))
}

// removeTemporary removes the temporary files of attempts.
func removeTemporary(spec *job.MapReduceSpec) error {
	temp := filepath.Join(spec.Output, temporaryDir)
	return outputError(temp, os.RemoveAll(temp))
}
