package worker

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/statedir"
)

// bagFiles are the files of an attempt of a bag: *files.Bag where the node sees the job's folder, or *farBag.
type bagFiles interface {
	files.Place
	// Begin opens the files to which the task prints, and makes the folder in which it runs, with what it needs.
	Begin() (dir string, err error)
	// End ends the writing of what the task prints, and returns its bytes.
	End() (bytes int64, err error)
	// Leave returns the files that the task left in its folder.
	Leave() ([]disk.File, error)
	// DropOthers removes the uncommitted files of the task's other attempts, up to the number last.
	DropOthers(last int)
	// Release removes what nobody needs any more once the attempt is committed or aborted.
	Release()
}

// bagTask is a running attempt of a bag task.
type bagTask struct {
	w     *worker
	a     *attempt
	lane  *process.Lane
	id    string      // the task's name for the user
	dir   string      // its private folder
	bag   *files.Bag  // its files on this machine
	files bagFiles    // bag, or what sends its files
	left  []disk.File // the files that it left in its folder, once it has succeeded
	again error       // it has succeeded only in so far that it is to start again; nil: it is done
	tail  string      // the last lines of its standard error, if it has failed
}

// newBagTask returns what an attempt of a bag does. It runs in a lane, so that the thread that starts the process also waits for it.
func (w *worker) newBagTask(a *attempt, lane *process.Lane) *bagTask {
	t := &bagTask{w: w, a: a, lane: lane}
	t.bag, t.files = w.bagFiles(a)
	a.bag.Store(t.bag)
	return t
}

// bagFiles returns the files of an attempt.
func (w *worker) bagFiles(a *attempt) (*files.Bag, bagFiles) {
	spec := a.spec
	b := &files.Bag{Site: w.site, Spec: spec, Entry: a.start.Entry, At: a.id, Others: !a.start.Commit, Captured: spec.Bag.Collect}
	if spec.Bag.Collect {
		b.Collect = a.work.collected
	}
	if spec.Bag.Ungroup {
		b.Live = a.work.runDir
	}
	if w.far() {
		f := w.farBag(a, b)
		return b, f
	}
	return b, b
}

// run prepares the task and runs its command.
func (t *bagTask) run() error {
	a, spec := t.a, t.a.spec
	a.meter.Enter(job.PhaseFetch)
	t.id = spec.Bag.TaskID(a.start.Entry, a.id.Task)
	var err error
	if t.dir, err = t.w.dirs.Acquire(); err != nil {
		return process.ScratchFailure(t.w.scratch.tasks(), err)
	}
	a.cwd, err = t.files.Begin()
	if t.open() && a.id.N > 1 && a.start.Commit { // no other attempt lives
		t.files.DropOthers(a.id.N - 1)
	}
	if err != nil {
		return err
	}
	argv := spec.Bag.Argv(a.start.Entry, a.id.Task)
	env := t.env()
	path, err := a.lookPath(argv[0], env)
	if err != nil {
		return t.explain(err)
	}
	if err := a.enter(t.w.link, job.PhaseCompute, func() {}); err != nil {
		return err
	}
	return t.compute(path, argv, env)
}

// lookPath finds the task's command. Its path is kept for the job's other tasks, but for those with values of their own.
func (a *attempt) lookPath(name string, env []string) (string, error) {
	if a.start.Task != nil {
		return lookPath(name, a.cwd, env)
	}
	if path, known := a.work.paths.Load(name); known {
		return path.(string), nil
	}
	path, err := lookPath(name, a.cwd, env)
	if err == nil && path != name {
		a.work.paths.Store(name, path)
	}
	return path, err
}

// open reports whether the files are open to which the task prints.
func (t *bagTask) open() bool { return t.bag.Prints[collect.Stderr] != nil }

// env returns the task's environment. A task that runs in a folder of its own is told so.
func (t *bagTask) env() []string {
	base := t.a.env
	if t.bag.Folder != nil {
		far := t.w.far()
		base = slices.DeleteFunc(slices.Clone(base), func(v string) bool {
			return strings.HasPrefix(v, "PWD=") || far && strings.HasPrefix(v, "BERTH_DIR=")
		})
		if base = append(base, "PWD="+t.a.cwd); far {
			base = append(base, "BERTH_DIR="+t.a.cwd)
		}
	}
	own := []string{"BERTH_TASK_ID=" + t.id}
	for _, name := range t.w.cfg.Variables.Indexes() {
		own = append(own, name+"="+t.id)
	}
	own = append(own, t.w.deadline(t.a)...)
	if mem := t.a.spec.Bag.Need.Mem; mem > 0 {
		own = append(own, "BERTH_MEM="+strconv.FormatInt(mem, 10))
	}
	return append(append(base, own...), // the capacity of base is its length: this copies
		"BERTH_ENTRY="+strings.ReplaceAll(strings.Join(t.a.start.Entry, " "), "\x00", ""),
		"BERTH_ATTEMPT="+strconv.Itoa(t.a.id.N-t.a.start.Unbegun),
		"BERTH_TASK_DIR="+t.dir)
}

// compute runs the command. If the command uses only some of the worker's cores, it is bound to these.
func (t *bagTask) compute(path string, argv, env []string) error {
	if err := t.a.killed(); err != nil {
		return err
	}
	held, err := t.w.gpus.Acquire(t.a.ctx, t.a.spec.Bag.Need.GPUs)
	if err != nil {
		return err
	}
	defer t.w.gpus.Release(held)
	env = t.w.gpus.Env(env, held)
	own := t.w.cores.Acquire(t.a.spec.Bag.Need.CPUs)
	defer t.w.cores.Release(own)
	t.lane.Bind(own)
	c := t.w.command(t.a, path, argv, t.a.cwd, env)
	t.w.count(t.a, &c)
	out, errs := t.bag.Prints[collect.Stdout], t.bag.Prints[collect.Stderr]
	e, err := t.a.programs.Run(&c, []uintptr{t.w.null, uintptr(out.FD), uintptr(errs.FD)})
	if err != nil {
		t.a.work.paths.Clear() // a program may have been moved
		return t.explain(err)
	}
	if err := t.a.killed(); err != nil {
		return err
	}
	b := t.a.spec.Bag
	switch f := process.ExitFailure(e); {
	case f == nil:
	case f.Outcome == event.Killed:
		t.a.kill(f) // what it left must not be committed
		return f
	case b.RequeueExit != 0 && f.Exit == b.RequeueExit:
		t.again = process.Requeued(f.Exit)
	default:
		f.Unhandled(syscall.Signal(b.Signal))
		f.FullDisk(t.a.cwd)
		return f.Believe(t.a.ctx, t.w.batch())
	}
	t.left, err = t.files.Leave()
	return err
}

// outputs returns the names of the files that the task left, if other tasks may leave the same.
func (t *bagTask) outputs() (names []string) {
	if t.a.spec.Bag.OwnOutputs() {
		return nil
	}
	for _, f := range t.left {
		name := f.Name
		if t.a.spec.Dir != t.a.work.spec.Dir {
			name = filepath.Join(t.a.spec.Dir, name)
		}
		names = append(names, name)
	}
	return names
}

// explain adds to the reason why a program could not be started that the program is the shell that the user named.
func (t *bagTask) explain(err error) error {
	var f *process.Failure
	if b := t.a.spec.Bag; b.ShellNamed && errors.As(err, &f) && f.NotFound() {
		f.Reason += "; it is the shell that --shell names, and this node does not have it: name another one"
	}
	return err
}

// store commits the output. What a failed attempt printed is committed too, so that users can see why it failed, but
// only if no other attempt can have done the task.
func (t *bagTask) store(failed error) error {
	if t.bag.Folder != nil {
		t.a.miss(t.bag.Folder.Dir)
	}
	if failed != nil {
		t.tail = t.bag.Tail()
	}
	if !t.open() {
		return failed
	}
	bytes, lost := t.files.End()
	t.a.meter.Out(bytes, 0)
	failed = cmp.Or(failed, lost)
	if failed == nil {
		failed = t.a.enter(t.w.link, job.PhaseStore, func() {})
	}
	t.a.meter.Enter(job.PhaseStore) // a failed attempt needs no grant
	if failed != nil {
		t.left = nil
	}
	t.a.outputs = t.outputs()
	if err := t.a.put(t.w.link, t.files, t.left, failed); err != nil {
		return err
	}
	t.warnOfForeign()
	if !t.a.start.Commit { // another attempt may have been at it
		t.a.after = func() { t.files.DropOthers(t.a.id.N + files.Ahead) }
	}
	return t.again
}

// release releases the folders and files of the attempt.
func (t *bagTask) release(error) (stderr string) {
	t.files.Release()
	if t.dir != "" {
		if err := t.w.dirs.Release(t.dir); err != nil {
			t.w.log.Warn("a task's folder stays", "dir", t.dir, "err", err)
		}
	}
	return t.tail
}

// warnOfForeign warns of files from before the job in folders that the task left.
func (t *bagTask) warnOfForeign() {
	wk := t.a.work
	began, err := statedir.Run{Dir: wk.runDir}.Submitted()
	if t.bag.Folder == nil || err != nil {
		return
	}
	names := t.bag.Folder.Foreign(began, func(dir string) bool { _, looked := wk.folders.LoadOrStore(dir, true); return !looked })
	if len(names) > 0 {
		t.a.warnings = append(t.a.warnings, fmt.Sprintf("what it left is mixed with %s from before the job, such as %s; they were kept, as nothing tells whose they are",
			job.Count(len(names), "file"), names[0]))
	}
}
