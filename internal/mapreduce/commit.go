package mapreduce

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/disk"
	"berth/internal/job"
)

// successName is the empty file that says that a job's output is whole.
const successName = "_SUCCESS"

// PrepareOutput makes the job's output folder, and refuses one that is there already.
func PrepareOutput(spec *job.MapReduceSpec) error {
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
	temp := filepath.Join(spec.Output, temporaryDir)
	if err := os.Mkdir(temp, 0o777); err != nil {
		return outputError(temp, errors.Join(err, os.Remove(spec.Output)))
	}
	return nil
}

// CheckOutput refuses an output folder that is there already, and makes nothing.
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
	return &job.Error{
		Class: job.User, Code: job.CodeOutputExists, Where: path,
		What: "output exists already", Do: "remove it or name another folder",
	}
}

// CommitJob completes the job's output once every part is in place: what attempts
// left goes, then _SUCCESS comes. It may be called again. The folder may be missing:
// a resumed job need not have written any part. maps is the number of map tasks, whose
// parts a job without reduces has; a part that somebody removed meanwhile is an error.
func CommitJob(spec *job.MapReduceSpec, maps int) error {
	if job.IsObject(spec.Output) {
		return commitObjects(spec, maps)
	}
	success := filepath.Join(spec.Output, successName)
	if _, err := os.Lstat(success); err == nil {
		return nil // it was said before; parts may have been taken away since
	}
	there := func(part string) error {
		_, err := os.Lstat(filepath.Join(spec.Output, part))
		return err
	}
	if err := checkParts(spec, maps, there); err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Output, 0o777); err != nil {
		return outputError(spec.Output, err)
	}
	temp := filepath.Join(spec.Output, temporaryDir)
	if err := os.RemoveAll(temp); err != nil {
		return outputError(temp, err)
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

// checkParts sees to it that every part is there. Of a lazy output none need be.
func checkParts(spec *job.MapReduceSpec, maps int, there func(part string) error) error {
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
		if err := there(name); errors.Is(err, fs.ErrNotExist) {
			return &job.Error{Class: job.User, Code: job.CodeIO, Where: part, What: "was in place and is gone: somebody removed it while the job ran",
				Do: "submit the job anew"}
		} else if err != nil {
			return outputError(part, err)
		}
	}
	return nil
}

// AbortJob removes what unfinished attempts of a stopped job left. Parts that were
// committed stay, without _SUCCESS, as the job can be resumed; an output folder
// without any part goes, so that the same command can be given again. It may be
// called again, and before a resume.
func AbortJob(spec *job.MapReduceSpec) error {
	if job.IsObject(spec.Output) {
		return abortObjects(spec)
	}
	temp := filepath.Join(spec.Output, temporaryDir)
	if err := os.RemoveAll(temp); err != nil {
		return outputError(temp, err)
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
