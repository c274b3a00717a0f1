package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/bucket"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/input"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/procattr"
	"berth/internal/wire"
)

// streamTask is a running attempt of a map or reduce.
type streamTask struct {
	w      *worker
	a      *attempt
	spec   *job.MapReduceSpec
	kind   job.TaskKind
	index  int    // index among the job's maps or reduces
	dir    string // the attempt's folder in the scratch folder
	cwd    string // the working folder of its programs, in dir
	env    []string
	stderr *process.Log
	place  files.Place // where its files go; nil: other attempts fetch what it leaves
	left   string      // the folder with what it leaves
}

// newStreamTask returns what an attempt of a map or reduce does.
func (w *worker) newStreamTask(a *attempt) *streamTask {
	wk := a.work
	t := &streamTask{w: w, a: a, spec: wk.spec.MapReduce, kind: wk.kind(a.id.Task), index: a.id.Task}
	if t.kind == job.ReduceTask {
		t.index -= wk.maps
	}
	name := job.TaskName(t.kind, t.index) + "." + strconv.Itoa(a.id.N)
	t.dir = filepath.Join(wk.dir, name)
	t.cwd = filepath.Join(t.dir, "work")
	counters := &process.Counters{Meter: a.meter, Limits: t.spec.CounterLimits(), End: a.kill}
	t.stderr = &process.Log{Count: counters.Add, Path: t.logPath(name), Meter: a.meter, Prefix: process.ReportPrefix}
	if prefix, set := t.spec.Conf["stream.stderr.reporter.prefix"]; set {
		t.stderr.Prefix = prefix
	}
	return t
}

// store commits what the attempt leaves, or removes it if that has failed.
func (t *streamTask) store(failed error) error {
	switch {
	case t.place == nil:
		return failed
	case failed == nil:
		var left []disk.File
		if left, failed = disk.Files(t.left); failed == nil {
			failed = t.a.put(t.w.link, t.place, left, nil)
		}
	}
	if failed != nil {
		t.a.miss(t.left)
		t.place.Abort()
	}
	return failed
}

// release ends the log of the attempt, of which it returns the last lines, and removes its scratch folder.
func (t *streamTask) release(failed error) (stderr string) {
	stderr, err := t.stderr.Close()
	if err != nil {
		t.w.log.Warn("standard error of a task is not logged", "attempt", t.a.id, "err", err)
	}
	if failed != nil && t.a.killed() == nil && t.w.outcome(failed).Outcome == event.Failed {
		stderr = t.debug(failed, stderr)
	}
	t.sendLog()
	if err := disk.RemoveTree(t.dir); err != nil {
		t.w.log.Warn("an attempt's scratch folder stays", "dir", t.dir, "err", err)
	}
	return stderr
}

// Take returns the memory and files with which the attempt sorts and merges.
func (t *streamTask) Take() extsort.Means { return t.w.supply.take(t.a.memory.Load()) }

// Give gives them back.
func (t *streamTask) Give(m extsort.Means) { t.w.supply.give(m) }

// run creates the task's folder and runs the task.
func (t *streamTask) run() error {
	if err := disk.RemoveTree(t.dir); err != nil { // left by an attempt with this number on an earlier worker
		return process.ScratchFailure(t.dir, err)
	}
	if err := t.a.work.fetchShipped(t.w, t.a); err != nil {
		return err
	}
	if err := t.a.work.furnish(t.cwd); err != nil {
		return err
	}
	if t.kind == job.ReduceTask || t.a.work.reduces == 0 {
		if err := t.makePlace(); err != nil {
			return err
		}
	}
	held, err := t.w.gpus.Acquire(t.a.ctx, t.a.work.need(t.kind), 1, t.a.gpus())
	if err != nil {
		return err
	}
	defer t.w.gpus.Release(held)
	t.env = t.w.gpus.Env(t.environment(), held)
	run := t.runReduce
	if t.kind == job.MapTask {
		run = t.runMap
	}
	return run()
}

// makePlace makes the folder for what the attempt leaves, and chooses the place where that goes.
func (t *streamTask) makePlace() error {
	switch {
	case job.IsObject(t.spec.Output):
		t.place = &mapreduce.Objects{Spec: t.spec}
	case t.w.far():
		t.place = t.w.sender(t.a, func(string) bool { return false }) // the attempt has counted them
	default:
		f, err := mapreduce.NewFolder(t.spec, t.a.id, t.index)
		if err != nil {
			return err
		}
		t.place, t.left = f, f.Dir
		return nil
	}
	t.left = filepath.Join(t.dir, "output")
	if err := os.MkdirAll(t.left, 0o777); err != nil {
		return process.ScratchFailure(t.left, err)
	}
	return nil
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
			return input.Open(r)
		}
	}
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
	_, err := t.w.cfg.Files.Send(t.a.ctx, t.a.id, files.Stderr, t.stderr.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the programs wrote nothing
		t.w.log.Warn("standard error of a task is not sent", "attempt", t.a.id, "err", err)
	}
}

func (t *streamTask) runMap() error {
	mapper, combiner := t.programs(&t.spec.Mapper, mapreduce.Maps)
	return mapreduce.RunMap(t.a.ctx, mapreduce.MapTask{
		Task: t.task(combiner), Split: *t.a.start.Split, Open: t.opener(), Partitions: t.a.work.reduces,
		Mapper: mapper, Outputs: t.w.shuffle.Store,
	})
}

func (t *streamTask) runReduce() error {
	reducer, combiner := t.programs(t.spec.Reducer, mapreduce.Reduces)
	return mapreduce.RunReduce(t.a.ctx, mapreduce.ReduceTask{
		Task: t.task(combiner), Partition: t.index, Maps: t.a.work.maps,
		Reducer: reducer, Source: t.w.mapOutputs(t.a),
	})
}

// task returns what attempts of maps and of reduces have in common.
func (t *streamTask) task(combiner mapreduce.Program) mapreduce.Task {
	longest := extsort.RecordLimit(t.w.supply.share.Memory) // it does not depend on the grant, so that a job that runs with one grant runs with every other
	return mapreduce.Task{Spec: t.spec, Attempt: t.a.id, Combiner: combiner, Supply: t, MaxRecord: longest, Enter: t.enter,
		Dir: filepath.Join(t.dir, "data"), Left: t.left, Progress: t.a.meter}
}

// enter begins a phase.
func (t *streamTask) enter(p job.Phase, idle func()) error { return t.a.enter(t.w.link, p, idle) }

// mapOutputs returns the source of map outputs for a reduce attempt. Outputs that cannot be fetched are reported to the
// coordinator.
func (w *worker) mapOutputs(a *attempt) shuffle.Source {
	return shuffle.Source{Node: w.shuffle, Locations: a.work.places, Lost: func(loc shuffle.Location, err error) {
		w.link.want(wish{wishOutput, loc.Attempt},
			wire.FetchFailed{By: a.id, Map: loc.Attempt, Addr: loc.Addr, Reason: process.OneLine(err.Error())})
	}}
}

// programs returns the task's program and its combiner, or nil if it has none.
func (t *streamTask) programs(p *job.Program, role mapreduce.Role) (main, combiner mapreduce.Program) {
	main, native := mapreduce.Native(*p, t.spec, role)
	if !native {
		cmd := t.command(p.Args, t.stderr)
		if n, err := strconv.ParseInt(t.spec.Conf[process.SkipKey], 10, 64); err == nil && role == mapreduce.Maps {
			cmd.Skip = n
		}
		main = cmd
	}
	if c := t.spec.Combiner; c != nil {
		if combiner, native = mapreduce.Native(*c, t.spec, mapreduce.Combines); !native {
			cmd := t.command(c.Args, t.stderr)
			cmd.Role = "combiner: "
			combiner = cmd
		}
	}
	return main, combiner
}

// command returns a mapper, combiner or reducer as a mapreduce.Program.
func (t *streamTask) command(args []string, log *process.Log) *process.Program {
	args = t.a.work.words(args)
	find := func() (string, error) { return t.a.work.findCommand(args[0], t.cwd, t.env) }
	return &process.Program{Set: &t.a.programs, Lanes: t.w.lanes, Find: find, Command: t.w.command(t.a, "", args, t.cwd, t.env),
		Log: log, Lax: !t.spec.NonZeroExitIsFail, Batch: t.w.batch(), Skip: -1}
}

// environment returns the environment of the task's programs: Hadoop Streaming's variables (job.TaskEnv) and berth's own.
// Files that programs leave in OutputDir become part of the output.
func (t *streamTask) environment() []string {
	a, wk := t.a, t.a.work
	info := job.TaskInfo{Name: wk.spec.Name, Attempt: a.id, Kind: t.kind, Index: t.index,
		Maps: wk.maps, Reduces: wk.reduces, Split: a.start.Split, OutputDir: t.left, User: procattr.UserName(os.Environ())}
	own := append(t.w.deadline(a), "BERTH_JOB_ID="+string(wk.spec.ID),
		"BERTH_TASK_ID="+job.TaskName(t.kind, t.index),
		"BERTH_ATTEMPT="+strconv.Itoa(a.id.N),
		"BERTH_TASK_DIR="+t.cwd,
		"TMPDIR="+filepath.Join(t.cwd, "tmp")) // set by Hadoop Streaming, too (PipeMapRed)
	return t.w.scratch.cookie.TaskEnv(t.w.cfg.Variables, job.TaskEnv(t.spec, info), process.Place{Need: wk.need(t.kind), Dir: wk.spec.Dir}, own...)
}
