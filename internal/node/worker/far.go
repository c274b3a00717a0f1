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
		return process.DiskFailure("host %s: %s", w.cfg.Remote.Host.Name, f.Reason)
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
	return a.fetch(w.cfg.Files, w.cfg.Cache, dir, choose)
}

func (a *attempt) fetch(from transfer.Source, cache *transfer.Cache, dir string, choose func(*transfer.Needs)) error {
	needs, err := from.Needs(a.ctx, a.id)
	if err != nil {
		return err
	}
	choose(needs)
	n, err := cache.Populate(a.ctx, from, a.id.Job, needs, dir)
	a.meter.Net(n)
	return err
}

// fetchShare fetches what the task of a gang needs to a folder of this host, for its ranks here. What they leave there is not sent back.
func (w *worker) fetchShare(a *attempt) (dir string, err error) {
	dir = filepath.Join(w.scratch.job(a.id.Job), strconv.Itoa(a.id.Task)+"."+strconv.Itoa(a.id.N))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", w.cfg.Cache.Failure(dir, err)
	}
	return dir, w.fetch(a, dir, func(*transfer.Needs) {})
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

// apartBag has the files of an attempt of a bag on a host that does not see the job's folder, or on a node whose own disk it runs on
// (localBag). The task runs in DIR/work, with what it needs. On a host that does not see the job's folder, what it prints is captured.
type apartBag struct {
	place            // where its files go: *transfer.Attempt, or bag
	bag   *files.Bag // on this host
	w     *worker
	a     *attempt
	host  string

	scratch *scratch
	source  transfer.Source
	cache   *transfer.Cache
}

// place is where the files of an attempt of a bag go.
type place interface {
	files.Place
	files.Claims
	DropOthers(last int)
}

func (w *worker) farBag(a *attempt, b *files.Bag) *apartBag {
	b.Captured, b.Collect, b.Live = true, nil, ""
	left := func(name string) bool { return name != files.Stdout && name != files.Stderr }
	return &apartBag{bag: b, place: w.sender(a, left), w: w, a: a, host: w.cfg.Remote.Host.Name, scratch: w.scratch, source: w.cfg.Files, cache: w.cfg.Cache}
}

// dir returns the attempt's folder on this host.
func (f *apartBag) dir() string {
	return filepath.Join(f.scratch.job(f.a.id.Job), strconv.Itoa(f.a.id.Task)+"."+strconv.Itoa(f.a.id.N))
}

// Begin fetches the files that the task needs, and opens those to which it prints.
func (f *apartBag) Begin() (string, error) {
	dir := filepath.Join(f.dir(), "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", f.cache.Failure(dir, err)
	}
	err := f.a.fetch(f.source, f.cache, dir, func(needs *transfer.Needs) {
		for _, i := range needs.Items {
			f.a.meter.In(i.Size, 0)
		}
	})
	if err != nil {
		return "", err
	}
	patterns := f.bag.Spec.Bag.OutputPatterns(f.bag.Entry, f.a.id.Task)
	if f.bag.Folder, err = files.FilledFolder(dir, patterns, f.a.id); err != nil {
		return "", f.ours(err)
	}
	return dir, f.printed(f.bag.Open())
}

// printed returns an error of what the task prints. It is one of this host's disk only if that is captured.
func (f *apartBag) printed(err error) error {
	if f.bag.Captured && f.w.far() {
		return f.ours(err)
	}
	return err
}

// ours turns an error of this host's disk into one that does not end the job. Other errors are returned unchanged.
func (f *apartBag) ours(err error) error {
	var e *process.Failure
	if !errors.As(err, &e) || e.Outcome != event.Broken {
		return err
	}
	return f.cache.Failure(f.dir(), err)
}

// End ends the writing of what the task prints.
func (f *apartBag) End() (int64, error) {
	n, err := f.bag.End()
	return n, f.printed(err)
}

// maxExtra is the number of unexpected files that an error names.
const maxExtra = 3

// Leave returns the files that the task left. It returns an error if there are any and the job does not say whether to
// keep them. On the user's own file system they would be kept.
func (f *apartBag) Leave() ([]disk.File, error) {
	if !f.bag.Spec.Bag.SaysOutputs() {
		if extra := f.bag.Folder.Extra(maxExtra); len(extra) > 0 {
			return nil, process.Broken("the task left %s, which host %s does not bring back, as the job does not say so; name what tasks leave with --outputs, or say --outputs none",
				strings.Join(extra, ", "), f.host)
		}
	}
	left, err := f.bag.Leave()
	return left, f.ours(err)
}

// Prepare sends the files that the task left, and what it printed if that is not beside its place.
func (f *apartBag) Prepare(ctx context.Context, left []disk.File) error {
	if !f.w.far() {
		return f.place.Prepare(ctx, left)
	}
	for _, p := range []struct {
		name   string
		stream collect.Stream
	}{{files.Stderr, collect.Stderr}, {files.Stdout, collect.Stdout}} {
		if path := f.bag.Prints[p.stream].File(); path != "" {
			left = append(left, disk.File{Name: p.name, Path: path})
		}
	}
	return f.place.Prepare(ctx, left)
}

// Release removes the attempt's files on this host.
func (f *apartBag) Release() {
	f.bag.Release()
	if err := disk.RemoveTree(f.dir()); err != nil {
		f.w.log.Warn("a task's files stay", "dir", f.dir(), "err", err)
	}
}
