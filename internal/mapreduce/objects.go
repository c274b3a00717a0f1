package mapreduce

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"berth/internal/bucket"
	"berth/internal/job"
)

// This file is about output in S3: the parts are objects below one name. While a job runs there is an empty object _temporary: of two jobs with the same output one makes it.

// objectTime is how long what is done at the begin and the end of a job may take.
const objectTime = 5 * time.Minute

func objectContext(spec *job.MapReduceSpec) (context.Context, context.CancelFunc) {
	return context.WithTimeout(bucket.With(context.Background(), spec.Env), objectTime)
}

// checkObjects refuses an output below which there is an object.
func checkObjects(ctx context.Context, spec *job.MapReduceSpec) error {
	there, err := bucket.Any(bucket.With(ctx, spec.Env), spec.Output+"/")
	if err == nil && there {
		err = outputExists(spec.Output)
	}
	return err
}

// prepareObjects refuses an output that is there, and makes it the job's.
func prepareObjects(spec *job.MapReduceSpec) error {
	ctx, cancel := objectContext(spec)
	defer cancel()
	if err := checkObjects(ctx, spec); err != nil {
		return err
	}
	first, err := bucket.Mark(ctx, spec.Output+"/"+temporaryDir, true)
	if err == nil && !first {
		err = outputExists(spec.Output)
	}
	return err
}

// commitObjects makes _SUCCESS once all parts are there. It may be called again.
func commitObjects(spec *job.MapReduceSpec, maps int) error {
	ctx, cancel := objectContext(spec)
	defer cancel()
	names := map[string]bool{}
	prefix := spec.Output + "/"
	if err := bucket.List(ctx, prefix, func(name string, _ int64) { names[strings.TrimPrefix(name, prefix)] = true }); err != nil {
		return err
	}
	if names[successName] {
		return nil
	}
	there := func(part string) error {
		if !names[part] {
			return fs.ErrNotExist
		}
		return nil
	}
	if err := checkParts(spec, maps, there); err != nil {
		return err
	}
	if err := clearObjects(ctx, spec); err != nil {
		return err
	}
	_, err := bucket.Mark(ctx, prefix+successName, false)
	return err
}

// abortObjects removes what unfinished attempts of a stopped job left. Parts stay.
func abortObjects(spec *job.MapReduceSpec) error {
	ctx, cancel := objectContext(spec)
	defer cancel()
	return clearObjects(ctx, spec)
}

// clearObjects ends uploads that attempts have left, and removes the mark of a job that runs.
func clearObjects(ctx context.Context, spec *job.MapReduceSpec) error {
	if err := bucket.GiveUp(ctx, spec.Output+"/"); err != nil {
		return err
	}
	return bucket.Remove(ctx, spec.Output+"/"+temporaryDir)
}
