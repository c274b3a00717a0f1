package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/event"
	"berth/internal/mapreduce/input"
	"berth/internal/node/collect"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/sys/disk"
)

// far reports whether the files of jobs are on another machine and not visible here.
func (w *worker) far() bool { return w.cfg.Files != nil }

// hostEnv returns the environment of users on this host. Tasks have it on hosts that do not get the environment of the
// submitting user.
func hostEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SSH_") })
}

// judgeFar returns the error of an attempt on this host that would end its job on the machine with the files. Another
// host may have what this one lacks, so such an error does not end the job. An error in the files of the job is
// reported by the machine that has them, and ends the job.
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

// fetch fetches the files that an attempt needs into a folder of this host, which must be empty. choose may remove some
// of them from the list.
func (w *worker) fetch(a *attempt, dir string, choose func(*transfer.Needs)) error {
	needs, err := w.cfg.Files.Needs(a.ctx, a.id)
	if err != nil {
		return err
	}
	choose(needs)
	n, err := w.cfg.Cache.Populate(a.ctx, w.cfg.Files, a.id.Job, needs, dir)
	a.meter.Net(n)
	return err
}

// sender returns what sends the files of an attempt to the machine with the job's folders. Its counted files are those
// that count as output.
func (w *worker) sender(a *attempt, counted func(name string) bool) *transfer.Attempt {
	return &transfer.Attempt{Client: w.cfg.Files, ID: a.id, Sent: func(name string, n int64) {
		a.meter.Net(n)
		if counted(name) {
			a.meter.Out(n, 0)
		}
	}}
}

// farBag has the files of an attempt of a bag on a host that does not see the job's folder. The task runs in DIR/work,
// with what it needs. What it prints is captured.
type farBag struct {
	*transfer.Attempt
	bag *files.Bag // on this host
	w   *worker
	a   *attempt
	dir string
}

func (w *worker) farBag(a *attempt, b *files.Bag) *farBag {
	b.Captured, b.Collect, b.Live = true, nil, ""
	left := func(name string) bool { return name != files.Stdout && name != files.Stderr }
	return &farBag{bag: b, Attempt: w.sender(a, left), w: w, a: a,
		dir: filepath.Join(w.scratch.job(a.id.Job), strconv.Itoa(a.id.Task)+"."+strconv.Itoa(a.id.N))}
}

// Begin fetches the files that the task needs, and opens those to which it prints.
func (f *farBag) Begin() (string, error) {
	dir := filepath.Join(f.dir, "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", f.w.cfg.Cache.Failure(f.dir, err)
	}
	err := f.w.fetch(f.a, dir, func(needs *transfer.Needs) {
		for _, i := range needs.Items {
			f.a.meter.In(i.Size, 0)
		}
	})
	if err != nil {
		return "", err
	}
	patterns := f.bag.Spec.Bag.OutputPatterns(f.bag.Entry, f.ID.Task)
	if f.bag.Folder, err = files.FilledFolder(dir, patterns, f.ID); err != nil {
		return "", err
	}
	return dir, f.ours(f.bag.Open())
}

// ours turns an error of this host's disk into one that does not end the job. Other errors are returned unchanged.
func (f *farBag) ours(err error) error {
	var e *process.Failure
	if !errors.As(err, &e) || e.Outcome != event.Broken {
		return err
	}
	return f.w.cfg.Cache.Failure(f.dir, err)
}

// End ends the writing of what the task prints.
func (f *farBag) End() (int64, error) {
	n, err := f.bag.End()
	return n, f.ours(err)
}

// maxExtra is the number of unexpected files that an error names.
const maxExtra = 3

// Leave returns the files that the task left. It returns an error if there are any and the job does not say whether to
// keep them. On the user's own file system they would be kept.
func (f *farBag) Leave() ([]disk.File, error) {
	if !f.bag.Spec.Bag.SaysOutputs() {
		if extra := f.bag.Folder.Extra(maxExtra); len(extra) > 0 {
			return nil, process.Broken("the task left %s, which host %s does not send back, as the job does not say so; name what tasks leave with --outputs, or say --outputs none",
				strings.Join(extra, ", "), f.w.cfg.Remote.Host.Name)
		}
	}
	return f.bag.Leave()
}

// Prepare sends the files that the task left, and what it printed.
func (f *farBag) Prepare(ctx context.Context, left []disk.File) error {
	for _, p := range []struct {
		name   string
		stream collect.Stream
	}{{files.Stderr, collect.Stderr}, {files.Stdout, collect.Stdout}} {
		if path := f.bag.Prints[p.stream].File(); path != "" {
			left = append(left, disk.File{Name: p.name, Path: path})
		}
	}
	return f.Attempt.Prepare(ctx, left)
}

// Release removes the attempt's files on this host.
func (f *farBag) Release() {
	f.bag.Folder = nil // it is in dir
	f.bag.Release()
	if err := disk.RemoveTree(f.dir); err != nil {
		f.w.log.Warn("a task's files stay", "dir", f.dir, "err", err)
	}
}
