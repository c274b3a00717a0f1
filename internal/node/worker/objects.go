package worker

import (
	"context"

	"berth/internal/mapreduce"
	"berth/internal/mapreduce/bucket"
)

// commitObjects sends what the attempt leaves to S3, asks for the commit, and completes the objects.
func (t *streamTask) commitObjects(out *mapreduce.Output) error {
	ctx := bucket.With(t.a.ctx, t.spec.Env)
	var sent []*bucket.Upload
	err := out.Left(func(name, path string) error {
		u, err := bucket.Begin(ctx, t.spec.Output+"/"+name, path)
		if err == nil {
			sent = append(sent, u)
		}
		return err
	})
	if err == nil {
		err = t.a.awaitCommit(ctx, t.w.link)
	}
	if err == nil {
		err = t.finishObjects(ctx, sent)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
		defer cancel()
		for _, u := range sent {
			u.Abort(ctx) // an upload that cannot be aborted now is aborted when the job ends
		}
	}
	return err
}

// finishObjects completes the objects that were sent. It stops when the worker's lease expires, because another attempt may then be permitted to commit.
func (t *streamTask) finishObjects(ctx context.Context, sent []*bucket.Upload) error {
	ctx, cancel := context.WithTimeout(ctx, t.w.link.leaseLeft(t.a.commit.Load()))
	defer cancel()
	for _, u := range sent {
		if err := u.Finish(ctx); err != nil {
			return err
		}
	}
	return nil
}
