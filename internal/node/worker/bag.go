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

// bagFiles are the files of an attempt of a bag: *files.Bag where the node sees the job's folder, or *apartBag.
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
	w       *worker
	a       *attempt
	lane    *process.Lane
	dir     string      // its private folder
	bag     *files.Bag  // its files on this machine
	files   bagFiles    // bag, or what brings them from elsewhere and back
	lacks   error       // it cannot run on this node; nil: it can
	left    []disk.File // the files that it left in its folder, once it has succeeded
	again   error       // it has succeeded only in so far that it is to start again; nil: it is done
	failing int         // the rank that has failed first, if each has files of its own
	tail    string      // the last lines of its standard error, if it has failed
}

// newBagTask returns what an attempt of a bag does. It runs in a lane, so that the thread that starts the process also waits for it.
func (w *worker) newBagTask(a *attempt, lane *process.Lane) *bagTask {
	t := &bagTask{w: w, a: a, lane: lane}
	t.bag = w.bagOf(a)
	t.files = t.bag
	switch {
	case w.far():
		t.files = w.farBag(a, t.bag)
	case a.spec.Bag.Local:
		t.files, t.lacks = w.localBag(a, t.bag)
	}
	a.bag.Store(t.bag)
	return t
}

// bagOf returns the files of an attempt on this machine.
func (w *worker) bagOf(a *attempt) *files.Bag {
	spec := a.spec
	b := &files.Bag{Site: w.site, Spec: spec, Entry: a.start.Entry, At: a.id, Others: !a.start.Commit, Captured: spec.Bag.Collect}
	if spec.Bag.Collect {
		b.Collect = a.work.collected
	}
	if spec.Bag.EachRank && spec.Bag.Several() {
		b.Ranks = spec.Bag.Ranks
	}
	if spec.Bag.Ungroup {
		b.Live = a.work.runDir
	}
	return b
}

// run prepares the task and runs its command.
func (t *bagTask) run() error {
	a, spec := t.a, t.a.spec
	a.meter.Enter(job.PhaseFetch)
	if t.lacks != nil {
		return t.lacks
	}
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
	_, apart := t.files.(*apartBag)
	env := t.w.taskEnv(a, t.dir, a.cwd, t.bag.Folder != nil, apart)
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

// taskEnv returns the environment of an attempt's task on this node, with its private folder dir. One that is moved runs in cwd and not in the job's
// folder, and is told so; apart from the job's folder there is none.
func (w *worker) taskEnv(a *attempt, dir, cwd string, moved, apart bool) []string {
	base, b := a.env, a.spec.Bag
	if moved {
		base = slices.DeleteFunc(slices.Clone(base), func(v string) bool {
			return strings.HasPrefix(v, "PWD=") || apart && strings.HasPrefix(v, "BERTH_DIR=")
		})
		if base = append(base, "PWD="+cwd); apart {
			base = append(base, "BERTH_DIR="+cwd)
		}
	}
	id := b.TaskID(a.start.Entry, a.id.Task)
	own := []string{"BERTH_TASK_ID=" + id}
	for _, name := range w.cfg.Variables.Indexes() {
		own = append(own, name+"="+id)
	}
	own = append(own, w.deadline(a)...)
	if b.Need.Mem > 0 {
		own = append(own, "BERTH_MEM="+strconv.FormatInt(b.Need.Mem, 10))
	}
	return append(append(base, own...), // the capacity of base is its length: this copies
		"BERTH_ENTRY="+strings.ReplaceAll(strings.Join(a.start.Entry, " "), "\x00", ""),
		"BERTH_ATTEMPT="+strconv.Itoa(a.id.N-a.start.Unbegun),
		"BERTH_TASK_DIR="+dir)
}

// compute runs the command. If the command uses only some of the worker's cores, it is bound to these.
func (t *bagTask) compute(path string, argv, env []string) error {
	if err := t.a.killed(); err != nil {
		return err
	}
	own, env, release, err := t.w.occupy(t.a, env)
	if err != nil {
		return err
	}
	defer release()
	t.lane.Bind(own)
	if t.a.part != nil {
		err = t.computeGang(path, argv, env, own)
	} else {
		err = t.runCommand(path, argv, env)
	}
	if err == nil {
		t.left, err = t.files.Leave()
	}
	return err
}

// runCommand runs the command once, and returns how it failed.
func (t *bagTask) runCommand(path string, argv, env []string) error {
	c := t.w.command(t.a, path, argv, t.a.cwd, env)
	t.w.count(t.a, &c)
	t.forked(&c)
	out, errs := t.bag.Prints[collect.Stdout], t.bag.Prints[collect.Stderr]
	e, err := t.a.programs.Run(&c, []uintptr{t.w.null, uintptr(out.FD), uintptr(errs.FD)})
	if err != nil {
		t.a.work.paths.Clear() // a program may have been moved
		return t.explain(err)
	}
	return t.judge(process.ExitFailure(e))
}

// forked has the command be forked from a process that has loaded its modules, if the job wants that. One that runs in a folder of its own would
// be the only one of its server, and so would one of a gang, whose environment names a folder of the attempt.
func (t *bagTask) forked(c *process.Command) {
	if t.files == bagFiles(t.bag) && t.bag.Folder == nil && t.a.part == nil {
		c.Warm, c.Modules = &t.w.warm, t.a.spec.Bag.Warm
	}
}

// judge returns why the attempt has failed whose command has ended so.
func (t *bagTask) judge(f *process.Failure) error {
	if err := t.a.killed(); err != nil {
		return err
	}
	b := t.a.spec.Bag
	switch {
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
	return nil
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
		t.tail = t.bag.TailOf(t.failing)
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
