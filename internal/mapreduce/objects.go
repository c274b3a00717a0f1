package mapreduce

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/bucket"
	"berth/internal/sys/disk"
)

// In S3 the parts of an output are objects with a common prefix. While a job runs, an empty object _temporary exists.
// Only one of two jobs with the same output can create it.

// Objects are the files that an attempt leaves, as objects of an output in S3.
type Objects struct {
	Spec *job.MapReduceSpec
	sent []*bucket.Upload
}

// Prepare sends the files without creating the objects.
func (o *Objects) Prepare(ctx context.Context, files []disk.File) error {
	ctx = bucket.With(ctx, o.Spec.Env)
	for _, f := range files {
		u, err := bucket.Begin(ctx, o.Spec.Output+"/"+f.Name, f.Path)
		if err != nil {
			return err
		}
		o.sent = append(o.sent, u)
	}
	return nil
}

// Commit creates the objects. It stops at the end of the lease, because another attempt may then be permitted to commit.
func (o *Objects) Commit(ctx context.Context, lease time.Duration) error {
	ctx, cancel := context.WithTimeout(bucket.With(ctx, o.Spec.Env), lease)
	defer cancel()
	for _, u := range o.sent {
		if err := u.Finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// abortTime limits the requests that abort uploads. An upload that is not aborted then is aborted when the job ends.
const abortTime = 10 * time.Second

// Abort aborts the uploads that are not finished.
func (o *Objects) Abort() {
	ctx, cancel := context.WithTimeout(bucket.With(context.Background(), o.Spec.Env), abortTime)
	defer cancel()
	for _, u := range o.sent {
		u.Abort(ctx)
	}
}

// objectTime limits the requests at the begin and at the end of a job.
const objectTime = 5 * time.Minute

func objectContext(spec *job.MapReduceSpec) (context.Context, context.CancelFunc) {
	return context.WithTimeout(bucket.With(context.Background(), spec.Env), objectTime)
}

// checkObjects returns an error if an object exists below the output.
func checkObjects(ctx context.Context, spec *job.MapReduceSpec) error {
	there, err := bucket.Any(bucket.With(ctx, spec.Env), spec.Output+"/")
	if err == nil && there {
		err = outputExists(spec.Output)
	}
	return err
}

// prepareObjects creates _temporary. It returns an error if the output exists.
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

// commitObjects creates _SUCCESS if all parts exist. It may be called again.
func commitObjects(spec *job.MapReduceSpec, maps int) error {
	ctx, cancel := objectContext(spec)
	defer cancel()
	names := map[string]bool{}
	prefix := spec.Output + "/"
	if err := bucket.List(ctx, prefix, func(name string, _ int64, _ string) { names[strings.TrimPrefix(name, prefix)] = true }); err != nil {
		return err
	}
	if names[successName] {
		return nil
	}
	exists := func(part string) error {
		if !names[part] {
			return fs.ErrNotExist
		}
		return nil
	}
	if err := checkParts(spec, maps, exists); err != nil {
		return err
	}
	if err := clearObjects(ctx, spec); err != nil {
		return err
	}
	_, err := bucket.Mark(ctx, prefix+successName, false)
	return err
}

// abortObjects removes what unfinished attempts of a stopped job have left. Committed parts stay.
func abortObjects(spec *job.MapReduceSpec) error {
	ctx, cancel := objectContext(spec)
	defer cancel()
	return clearObjects(ctx, spec)
}

// clearObjects aborts the unfinished uploads of attempts and removes _temporary.
func clearObjects(ctx context.Context, spec *job.MapReduceSpec) error {
	if err := bucket.GiveUp(ctx, spec.Output+"/"); err != nil {
		return err
	}
	return bucket.Remove(ctx, spec.Output+"/"+temporaryDir)
}
