package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/bucket"
	"berth/internal/mapreduce/input"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/sys/disk"
)

// This file has the parts of map and reduce attempts on a host that does not see the job's files: splits are read through the connection, shipped
// files are in the host's cache, and outputs are written here and sent when they are complete.

// far reports whether the files of jobs are on another machine and not visible here.
func (w *worker) far() bool { return w.cfg.Files != nil }

// judgeFar returns the error of an attempt on this host that would end its job on the machine with the files. Another host may have what this one
// lacks, so such an error does not end the job. An error in the files of the job is reported by the machine that has them, and ends the job.
func (w *worker) judgeFar(f *process.Failure, err error) *process.Failure {
	switch {
	case process.OfMachine(err):
		return process.Passing("host %s: %s", w.cfg.Remote.Host.Name, f.Reason)
	case errors.As(err, new(*input.InputError)):
		return f
	case ofNode(err):
		return process.Failed("%s", f.Reason)
	}
	return f
}

// opener returns the function that opens the files of the attempt's split. The host reads objects itself.
func (t *streamTask) opener() input.Opener {
	return func(ctx context.Context, split job.Split, index int) (input.File, error) {
		switch r := split.Ranges[index]; {
		case job.IsObject(r.Path):
			return bucket.Open(bucket.With(ctx, t.spec.Env), r, t.a.meter.Net)
		case t.w.far():
			return t.w.cfg.Files.OpenRange(ctx, t.a.id, split, index, t.a.meter.Net)
		default:
			return input.Open(r.Path)
		}
	}
}

// ownSpec returns the spec for the attempt's output. It has an output folder of its own if the job's output is not visible here or is not a folder.
func (t *streamTask) ownSpec() *job.MapReduceSpec {
	if !t.w.far() && !job.IsObject(t.spec.Output) {
		return t.spec
	}
	own := *t.spec
	own.Output, own.PartMode = filepath.Join(t.dir, "output"), 0
	return &own
}

// logPath returns the path of the attempt's log.
func (t *streamTask) logPath(name string) string {
	if t.w.far() {
		return filepath.Join(t.dir, "log", name+".stderr")
	}
	return filepath.Join(t.a.work.runDir, "logs", name+".stderr")
}

// sendLog sends the attempt's log if it was written on this host.
func (t *streamTask) sendLog() {
	if !t.w.far() || t.a.killed() != nil {
		return
	}
	if _, err := os.Stat(t.stderr.Path); err != nil {
		return
	}
	if err := t.w.cfg.Files.SendLog(t.a.ctx, t.a.id, t.stderr.Path); err != nil {
		t.w.log.Warn("standard error of a task is not sent", "attempt", t.a.id, "err", err)
	}
}

// commit commits the attempt's output when it is permitted.
func (t *streamTask) commit(out *mapreduce.Output) error {
	if job.IsObject(t.spec.Output) {
		return t.commitObjects(out)
	}
	if t.w.far() {
		return t.commitFar(out)
	}
	if err := t.a.awaitCommit(t.a.ctx, t.w.link); err != nil {
		out.Abort()
		return err
	}
	return out.Commit()
}

// commitFar sends what the attempt leaves, asks for the commit, and has the holder commit it.
func (t *streamTask) commitFar(out *mapreduce.Output) error {
	files, at, ctx := t.w.cfg.Files, t.a.id, t.a.ctx
	var names []string
	var latest transfer.Stamp
	err := out.Left(func(name, path string) error {
		n, stamp, err := files.Send(ctx, at, name, path)
		t.a.meter.Net(n)
		names, latest = append(names, name), stamp
		return err
	})
	if err == nil && len(names) > 0 {
		if err = t.a.awaitCommit(ctx, t.w.link); err == nil {
			err = files.Commit(ctx, at, names, latest, t.w.link.leaseLeft(t.a.commit.Load()))
		}
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), dropTime)
		defer cancel()
		_ = files.Drop(ctx, at) // if nobody answers, the files are removed with _temporary
	}
	return err
}

// fetchShipped fetches the files that a job ships into a folder of this host, once for all of its tasks.
func (wk *work) fetchShipped(w *worker, a *attempt) error {
	if !w.far() {
		return nil
	}
	wk.ship.mu.Lock()
	defer wk.ship.mu.Unlock()
	if wk.ship.fetched {
		return nil
	}
	dir := wk.shippedDir()
	if err := disk.RemoveTree(dir); err != nil { // left by an attempt that was killed while it fetched
		return process.ScratchFailure(dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return process.ScratchFailure(dir, err)
	}
	needs, err := w.cfg.Files.Needs(a.ctx, a.id)
	if err != nil {
		return err
	}
	wk.takePrograms(needs)
	n, err := w.cfg.Cache.Populate(a.ctx, w.cfg.Files, a.id.Job, needs, dir)
	a.meter.Net(n)
	if err != nil {
		return err
	}
	wk.ship.fetched = true
	return nil
}

// shippedDir returns the folder for fetched files that the job ships.
func (wk *work) shippedDir() string { return filepath.Join(wk.dir, "shipped") }

// shippedFile returns the path on this machine of a shipped file, by its index.
func (wk *work) shippedFile(i int) string {
	f := wk.spec.MapReduce.Files[i]
	if !wk.ship.fetched {
		return f.Path
	}
	return filepath.Join(wk.shippedDir(), transfer.ShippedItem(i, f.Path))
}

// takePrograms makes tasks run the user's copy of each program whose absolute path does not exist on this host. Other programs need not be fetched.
func (wk *work) takePrograms(needs *transfer.Needs) {
	wk.ship.programs = make(map[string]string)
	for i, path := range transfer.Programs(wk.spec.MapReduce) {
		item := transfer.ProgramItem(i, path)
		if !slices.ContainsFunc(needs.Items, func(i transfer.Item) bool { return i.Path == item }) {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			needs.Items = slices.DeleteFunc(needs.Items, func(i transfer.Item) bool { return i.Path == item })
			continue
		}
		wk.ship.programs[path] = filepath.Join(wk.shippedDir(), item)
	}
}

// words returns a program's words with the paths of its files on this machine.
func (wk *work) words(args []string) []string {
	if len(wk.ship.programs) == 0 {
		return args
	}
	args = slices.Clone(args)
	for i, word := range args {
		if here, is := wk.ship.programs[word]; is {
			args[i] = here
		}
	}
	return args
}
