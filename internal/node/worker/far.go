package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/node/transfer"
	"berth/internal/sys/disk"
)

// farFiles contains the files of an attempt on a host that does not see the job's folder (package transfer).
//
//	DIR/work            where the task runs, with what it needs
//	DIR/stdout, stderr  what it prints, under the names of parts
type farFiles struct {
	w      *worker
	a      *attempt
	dir    string
	names  []string // names of the outputs that were sent, in the order of the commit
	latest transfer.Stamp
}

// fetch creates the folder in which the task runs, with all files that it needs.
func (t *bagTask) fetch() error {
	a, w := t.a, t.w
	f := &farFiles{w: w, a: a, dir: filepath.Join(w.scratch.job(a.id.Job), strconv.Itoa(a.id.Task)+"."+strconv.Itoa(a.id.N))}
	t.far = f
	if err := os.MkdirAll(f.work(), 0o700); err != nil {
		return f.failure(err)
	}
	needs, err := w.cfg.Files.Needs(a.ctx, a.id)
	if err != nil {
		return err
	}
	fetched, err := w.cfg.Cache.Populate(a.ctx, w.cfg.Files, a.id.Job, needs, f.work())
	a.meter.Net(fetched)
	if err != nil {
		return err
	}
	for _, i := range needs.Items {
		a.meter.In(i.Size, 0)
	}
	a.cwd = f.work()
	t.folder, err = process.FilledFolder(f.work(), a.work.spec.Bag.OutputPatterns(a.start.Entry, a.id.Task), a.id)
	return err
}

func (f *farFiles) work() string { return filepath.Join(f.dir, "work") }

// failure returns the failure of a host without free space. It does not end the job, as other hosts may have space.
func (f *farFiles) failure(err error) error {
	return process.Passing("host %s: %s: %v; free space there, or name another folder with --scratch", f.w.cfg.Remote.Host.Name, f.dir, err)
}

// ours turns an error of this host's disk into one that does not end the job. Other errors are returned unchanged.
func (f *farFiles) ours(err error) error {
	var e *process.Failure
	if f == nil || !errors.As(err, &e) || e.Outcome != event.Broken {
		return err
	}
	return f.failure(err)
}

// here returns the path on this host for an output of the task. Devices are those of the host.
func (f *farFiles) here(path, name string) string {
	if path == job.Discard || strings.HasPrefix(path, "/dev/") {
		return path
	}
	return filepath.Join(f.dir, name)
}

// env returns a task's environment with the paths of its own folder.
func (f *farFiles) env(base []string) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(v string) bool { return strings.HasPrefix(v, "PWD=") || strings.HasPrefix(v, "BERTH_DIR=") })
	return append(env, "PWD="+f.work(), "BERTH_DIR="+f.work())
}

// maxExtra is the number of unexpected files that an error names.
const maxExtra = 3

// checkExtra returns an error if a task leaves files and its job does not say whether to keep them. On the user's own file system they would be kept.
func (f *farFiles) checkExtra(folder *process.Folder) error {
	if f.a.work.spec.Bag.SaysOutputs() {
		return nil
	}
	extra := folder.Extra(maxExtra)
	if len(extra) == 0 {
		return nil
	}
	return process.Broken("the task left %s, which host %s does not send back, as the job does not say so; name what tasks leave with --outputs, or say --outputs none",
		strings.Join(extra, ", "), f.w.cfg.Remote.Host.Name)
}

// storeFar sends the files that the task left, asks for the commit, and has the holder commit them. It is part of the phase store.
func (t *bagTask) storeFar(failed error) error {
	f, l := t.far, t.w.link
	if failed != nil && (t.a.withdrawn() || !l.mayCommit(t.a.commit.Load())) {
		return failed
	}
	sent := f.send(t, failed == nil)
	if failed == nil {
		failed = sent
	}
	if failed == nil {
		failed = t.a.awaitCommit(t.a.ctx, l)
	}
	left := l.leaseLeft(t.a.commit.Load())
	if sent != nil || failed != nil && t.a.withdrawn() || left == 0 {
		f.drop()
		return failed
	}
	if len(f.names) == 0 {
		return failed
	}
	if err := t.w.cfg.Files.Commit(t.a.ctx, t.a.id, f.names, f.latest, left); err != nil {
		f.drop()
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// send sends the outputs: the files that the task left, and what it printed. For a failed attempt it sends only the latter.
func (f *farFiles) send(t *bagTask, all bool) error {
	if all {
		for _, name := range t.left {
			if err := f.sendOne(name, filepath.Join(f.work(), name)); err != nil {
				return err
			}
		}
	}
	if t.err.Part != "" {
		if err := f.sendOne(transfer.Stderr, t.err.Part); err != nil {
			return err
		}
	}
	if t.out.Part != "" {
		return f.sendOne(transfer.Stdout, t.out.Part)
	}
	return nil
}

func (f *farFiles) sendOne(name, file string) error {
	n, stamp, err := f.w.cfg.Files.Send(f.a.ctx, f.a.id, name, file)
	if err != nil {
		return err
	}
	f.a.meter.Net(n)
	if name != transfer.Stdout && name != transfer.Stderr {
		f.a.meter.Out(n, 0)
	}
	f.names, f.latest = append(f.names, name), stamp
	return nil
}

// dropTime is the longest wait until the holder has removed files that nobody needs. The holder also removes them when the connection
// breaks.
const dropTime = 10 * time.Second

// drop has the holder remove the files that were sent and not committed.
func (f *farFiles) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	_ = f.w.cfg.Files.Drop(ctx, f.a.id)
}

// dropOthers has the holder remove the uncommitted files of the task's other attempts.
func (f *farFiles) dropOthers(last int) {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	_ = f.w.cfg.Files.DropOthers(ctx, f.a.id, last)
}

// close removes the attempt's files on this host.
func (f *farFiles) close() {
	if err := disk.RemoveTree(f.dir); err != nil {
		f.w.log.Warn("a task's files stay", "dir", f.dir, "err", err)
	}
}

// hostEnv returns the environment of users on this host. Tasks have it on hosts that do not get the environment of the submitting user.
func hostEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SSH_") })
}
