package worker

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// bagTask is a running attempt of a bag task.
type bagTask struct {
	w        *worker
	a        *attempt
	lane     *process.Lane
	id       string // the task's name for the user
	dir      string // its private folder
	out, err process.Output
	open     bool            // out and err are
	prints   *prints         // collects what the task prints; nil: it has files of its own
	folder   *process.Folder // the folder in which it runs; nil: the job's folder
	left     []string        // the files that it left in folder, once it has succeeded
	far      *farFiles       // its files on a host that does not see the job's folder; nil: this host sees it
}

// runBag runs an attempt. It is called in a lane, so that the thread that starts the process also waits for it.
func (w *worker) runBag(a *attempt, lane *process.Lane) {
	t := &bagTask{w: w, a: a, lane: lane}
	err := w.guard(a, t.run)
	stderr := ""
	if err != nil {
		stderr = t.tail()
	}
	err = w.guard(a, func() error { return t.store(err) })
	t.prints.give(w)
	if t.dir != "" {
		if derr := w.dirs.Release(t.dir); derr != nil {
			w.log.Warn("a task's folder stays", "dir", t.dir, "err", derr)
		}
	}
	switch {
	case t.far != nil:
		t.far.close()
	case t.folder != nil:
		t.folder.Drop()
		w.scratch.parts().Forget(a.id)
	}
	if err == nil && !a.start.Commit { // another attempt may have been at it
		w.link.afterwards(a.id, func() { t.dropOthers(a.id.N + process.Ahead) })
	}
	w.finish(a, err, stderr)
}

// run prepares the task and runs its command.
func (t *bagTask) run() error {
	a, spec := t.a, t.a.work.spec
	a.meter.Enter(job.PhaseFetch)
	t.id = spec.Bag.TaskID(a.start.Entry, a.id.Task)
	var err error
	if t.dir, err = t.w.dirs.Acquire(); err != nil {
		return process.ScratchFailure(t.w.scratch.tasks(), err)
	}
	if t.w.cfg.Files != nil {
		if err := t.fetch(); err != nil {
			return err
		}
	}
	if err := t.openOutputs(); err != nil {
		return err
	}
	if err := t.enterFolder(); err != nil {
		return err
	}
	argv := spec.Bag.Argv(a.start.Entry, a.id.Task)
	env := t.env()
	path, err := a.work.lookPath(argv[0], a.cwd, env)
	if err != nil {
		return err
	}
	if err := a.enter(t.w.link, job.PhaseCompute); err != nil {
		return err
	}
	return t.compute(path, argv, env)
}

// enterFolder sets the folder in which the task runs, and creates it if it is the task's own.
func (t *bagTask) enterFolder() (err error) {
	spec, at, entry := t.a.work.spec, t.a.id, t.a.start.Entry
	if t.far != nil {
		return nil // it has one
	}
	t.a.cwd = spec.Dir
	patterns := spec.Bag.OutputPatterns(entry, at.Task)
	if len(patterns) == 0 {
		return nil
	}
	if err := t.w.scratch.parts().Note(at, process.FolderName(spec.Dir, at)); err != nil {
		return process.ScratchFailure(t.w.scratch.dir, err)
	}
	if t.folder, err = process.MakeFolder(spec.Dir, patterns, spec.Bag.Named(entry, at.Task), at); err != nil {
		t.w.scratch.parts().Forget(at)
		return err
	}
	t.a.cwd = t.folder.Dir
	return nil
}

// env returns the task's environment.
func (t *bagTask) env() []string {
	base := t.a.work.bagEnv
	if t.far != nil {
		base = t.far.env(base)
	} else if t.folder != nil {
		base = append(slices.DeleteFunc(slices.Clone(base), func(v string) bool { return strings.HasPrefix(v, "PWD=") }), "PWD="+t.folder.Dir)
	}
	own := []string{"BERTH_TASK_ID=" + t.id}
	for _, name := range t.w.scratch.batch.Index {
		own = append(own, name+"="+t.id)
	}
	return append(append(base, own...), // the capacity of base is its length: this copies
		"BERTH_ENTRY="+strings.ReplaceAll(strings.Join(t.a.start.Entry, " "), "\x00", ""),
		"BERTH_ATTEMPT="+strconv.Itoa(t.a.id.N),
		"BERTH_TASK_DIR="+t.dir)
}

// openOutputs creates the files that the task writes to.
func (t *bagTask) openOutputs() error {
	spec, at := t.a.work.spec, t.a.id
	if spec.Bag.Ungroup && t.far == nil && t.openLive() {
		t.open = true
		return nil
	}
	if spec.Bag.Collect && t.far == nil {
		return t.capture()
	}
	stdout := spec.Bag.OutputPath(spec.Bag.Stdout, spec.ID, t.a.start.Entry, at.Task)
	stderr := spec.Bag.OutputPath(spec.Bag.Stderr, spec.ID, t.a.start.Entry, at.Task)
	if t.far != nil {
		stdout, stderr = t.far.here(stdout, "stdout"), t.far.here(stderr, "stderr")
	}
	var err error
	if t.out, err = process.OpenOutput(stdout, at); err != nil {
		return t.far.ours(err)
	}
	if t.err, err = process.OpenOutput(stderr, at); err != nil {
		_ = t.out.Close()
		t.out.Drop()
		return t.far.ours(err)
	}
	t.open = true
	if at.N > 1 && t.a.start.Commit { // no other attempt lives
		t.dropOthers(at.N - 1)
	}
	return nil
}

// dropOthers removes the uncommitted files of the task's other attempts, up to a number.
func (t *bagTask) dropOthers(last int) {
	spec, at := t.a.work.spec, t.a.id
	if t.far != nil {
		t.far.dropOthers(last)
		return
	}
	t.out.DropOthers(at, last)
	t.err.DropOthers(at, last)
	if len(spec.Bag.OutputPatterns(t.a.start.Entry, at.Task)) > 0 {
		process.DropOtherFolders(spec.Dir, at, last)
	}
}

// compute runs the command. If the command uses only some of the worker's cores, it is bound to these.
func (t *bagTask) compute(path string, argv, env []string) error {
	if err := t.a.killed(); err != nil {
		return err
	}
	own := t.w.cores.Acquire(t.a.work.spec.Bag.Need.CPUs)
	defer t.w.cores.Release(own)
	t.lane.Bind(own)
	c := t.w.command(t.a, path, argv, t.a.cwd, env)
	c.Planter = t.w.planter(t.a)
	e, err := t.a.programs.Run(&c, []uintptr{t.w.null, uintptr(t.out.FD), uintptr(t.err.FD)})
	if err != nil {
		t.a.work.forgetPaths()
		return err
	}
	if err := t.a.killed(); err != nil {
		return err
	}
	if f := process.ExitFailure(e); f != nil {
		return f.Believe(t.a.ctx, t.w.batch())
	}
	if t.folder != nil {
		t.left, err = t.folder.Left()
	}
	if err == nil && t.far != nil {
		err = t.far.checkExtra(t.folder)
	}
	return err
}

// store commits the output. The output of a failed attempt is committed too, so that users can see why it failed,
// but only if no other attempt can have done the task.
func (t *bagTask) store(failed error) error {
	if !t.open {
		return failed
	}
	lost := t.far.ours(t.closeOutputs())
	t.a.meter.Out(t.out.Bytes+t.err.Bytes, 0)
	if failed == nil {
		failed = lost
	}
	if failed == nil {
		failed = t.a.enter(t.w.link, job.PhaseStore)
	}
	t.a.meter.Enter(job.PhaseStore) // a failed attempt needs no grant
	if t.far != nil {
		return t.storeFar(failed)
	}
	if failed == nil {
		failed = t.a.awaitCommit(t.a.ctx, t.w.link)
	}
	if failed != nil && (t.a.withdrawn() || !t.w.link.mayCommit(t.a.commit.Load())) {
		t.out.Drop()
		t.err.Drop()
		return failed
	}
	if t.folder != nil && failed == nil {
		failed = t.folder.Commit(t.left, t.w.durable)
	}
	if err := t.commitOutputs(); err != nil && failed == nil {
		failed = err
	}
	return failed
}

// tail returns the last lines that the task wrote to its standard error.
func (t *bagTask) tail() string {
	switch {
	case t.prints != nil:
		return t.prints.tail()
	case t.err.Part != "":
		return process.TailOf(t.err.Part)
	default:
		return ""
	}
}

func (t *bagTask) closeOutputs() error {
	if t.prints != nil {
		return t.prints.end(&t.out, &t.err)
	}
	return errors.Join(t.out.Close(), t.err.Close())
}

// commitOutputs commits the files with what the task printed.
func (t *bagTask) commitOutputs() error {
	if t.prints != nil {
		return t.collect()
	}
	err := errors.Join(t.err.Commit(), t.out.Commit())
	t.w.durable.Note(&t.err)
	t.w.durable.Note(&t.out)
	return err
}
