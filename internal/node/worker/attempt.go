package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/disk"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// attempt is an attempt that runs on this worker.
type attempt struct {
	id    job.Attempt
	start *wire.Start
	work  *work
	spec  *job.Spec // the job's, with the values of a bag's task that has some of its own
	env   []string  // the first part of the environment of a bag's task; its capacity is its length
	meter *probe.Meter
	begun time.Time
	ahead time.Duration // by how much the coordinator's time is ahead of this machine's; see follow

	ctx    context.Context
	cancel context.CancelCauseFunc // the cause is a *process.Failure

	through atomic.Uint32 // the last job.Phase that its grant covers
	memory  atomic.Int64  // the granted memory to sort and merge in
	commit  atomic.Uint64 // number of the connection over which it was permitted to commit; 0: none
	keeps   atomic.Bool   // it was killed, and what its task printed is put into place (wire.Kill)
	asking  asking
	nudge   chan struct{} // signals that the grant or the permission to commit has changed
	waits   atomic.Uint32 // the job.Phase for which it waits for a grant

	cwd   string // folder in which the command of a bag runs, before it is started
	gone  string // the hidden folder for its files beside the outputs of its job, if something removed it while the attempt ran
	gauge gauge

	bag atomic.Pointer[files.Bag] // of a bag's task; nil: there are none yet

	beside   []string // its files that were not put into place, as other jobs claimed their paths later
	outputs  []string // event.AttemptEnded.Outputs
	warnings []string // what its user should know of its files
	after    func()   // called once its end is acknowledged; nil: nothing is to be done

	told job.Phase // the last phase that was reported to the coordinator; it belongs to the monitor
	idle bool      // it was reported as idle (job.Progress); it belongs to the monitor

	programs process.Set

	part   *part            // of its gang on this node; nil: its task is one process
	shares []event.ShareUse // event.AttemptEnded.Shares

	line
}

func newAttempt(m *wire.Start, wk *work, epoch uint64) *attempt {
	a := &attempt{id: m.Attempt, start: m, work: wk, spec: wk.spec, env: wk.bagEnv, nudge: make(chan struct{}, 1), begun: time.Now()}
	a.meter = probe.NewMeter(a.now)
	a.programs.Meter = a.meter
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.memory.Store(m.Memory)
	a.through.Store(uint32(m.Through))
	if m.Commit {
		a.commit.Store(epoch)
	}
	a.asking.asks = m.Asks
	if wk.spec.Bag != nil && (m.Task != nil || m.Mem > 0 || m.TimeLimit > 0) {
		own := cmp.Or(m.Task, &task.Spec{Entry: m.Entry})
		own.Mem, own.TimeLimit = cmp.Or(m.Mem, own.Mem), cmp.Or(m.TimeLimit, own.TimeLimit)
		a.spec, m.Entry = own.Apply(wk.spec)
		a.env = wk.makeEnv(a.spec)
		chooseShell(a.spec.Bag, a.env)
	}
	return a
}

// deadline returns the variable that tells a task that starts now when its time is over, or nothing if it never is.
func (w *worker) deadline(a *attempt) []string {
	l := w.limits(a)
	end := l.Deadline(time.Now())
	if end.IsZero() {
		return nil
	}
	return []string{"BERTH_DEADLINE=" + strconv.FormatInt(end.Unix(), 10)}
}

// limits returns the limits of each program of an attempt.
func (w *worker) limits(a *attempt) (l process.Limits) {
	if b := a.spec.Bag; b != nil {
		l = process.Limits{Memory: b.Need.Mem * int64(a.ranks()), Together: a.part != nil, Time: b.TimeLimit, Signal: syscall.Signal(b.Signal), Lead: b.SignalLead}
	} else {
		l = process.Limits{Memory: a.work.need(a.work.kind(a.id.Task)).Mem, Idle: a.spec.MapReduce.TaskTimeout}
	}
	if end := w.ends.Load(); end != nil {
		l.Ends = *end
	}
	return l
}

// kill ends the attempt. The first reason is the one that is reported.
func (a *attempt) kill(f *process.Failure) {
	a.cancel(f)
	a.programs.Kill()
}

// killed returns the reason why the attempt was killed, or nil.
func (a *attempt) killed() error {
	return context.Cause(a.ctx)
}

// withdrawn reports whether the attempt was killed and nothing of its result is wanted.
func (a *attempt) withdrawn() bool {
	var f *process.Failure
	return !a.keeps.Load() && errors.As(a.killed(), &f) && (f.Outcome == event.Killed || f.Outcome == event.Lost)
}

// grant sets the grant up to a phase, with its memory, unless the attempt has one already.
func (a *attempt) grant(phase job.Phase, memory int64) {
	if uint32(phase) > a.through.Load() {
		a.memory.Store(memory)
		a.through.Store(uint32(phase))
	}
	poke(a.nudge)
}

// permit permits the attempt to commit, except files that belong to other jobs. epoch is the number of the connection over which the permission
// came.
func (a *attempt) permit(epoch uint64, except []int32) {
	a.asking.mu.Lock()
	a.asking.told, a.asking.except = epoch, except
	a.asking.mu.Unlock()
	a.commit.Store(epoch)
	poke(a.nudge)
}

// asking is whether an attempt must ask before it puts its files into place, as other jobs may write them.
type asking struct {
	mu     sync.Mutex
	asks   bool
	puts   bool    // it puts them into place
	told   uint64  // number of the connection over which its question was answered; 0: it was not
	except []int32 // indices of the files that belong to other jobs
}

// askFirst has the attempt ask. It returns false if it puts its files into place already.
func (a *attempt) askFirst() bool {
	s := &a.asking
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.puts {
		s.asks, s.told = true, 0
	}
	return !s.puts
}

// mayPut reports for how long the attempt may put its files into place, and except which. If begin is set it begins to do so.
func (a *attempt) mayPut(l *link, begin bool) (lease time.Duration, except []int32) {
	s := &a.asking
	s.mu.Lock()
	defer s.mu.Unlock()
	epoch := a.commit.Load()
	if s.asks {
		epoch = s.told
	}
	lease = l.leaseLeft(epoch)
	s.puts = s.puts || begin && lease > 0
	return lease, s.except
}

// enter begins a phase when the attempt has a grant for it. If it has to wait, idle is called before, and the attempt is in no phase meanwhile.
func (a *attempt) enter(l *link, p job.Phase, idle func()) error {
	covered := func() bool { return a.through.Load() >= uint32(p) }
	if !covered() {
		idle()
		a.meter.Enter(job.PhaseNone)
		a.waits.Store(uint32(p))
		err := a.await(a.ctx, l, wish{wishGrant, a.id}, wire.GrantWanted{Attempt: a.id, Phase: p}, covered)
		a.waits.Store(uint32(job.PhaseNone))
		if err != nil {
			return err
		}
	}
	a.meter.Enter(p)
	return nil
}

// begin blocks until the attempt may put its files into place, and returns for how long.
func (a *attempt) begin(ctx context.Context, l *link, to files.Place) (time.Duration, error) {
	claims, _ := to.(files.Claims)
	ask := wire.CommitWanted{Attempt: a.id}
	may := func() bool { lease, _ := a.mayPut(l, false); return lease > 0 }
	for {
		if claims != nil && !may() {
			ask.Files = claims.Claims()
		}
		if err := a.await(ctx, l, wish{wishCommit, a.id}, ask, may); err != nil {
			return 0, err
		}
		if lease, except := a.mayPut(l, true); lease > 0 { // else it must ask since
			if claims != nil {
				claims.Withhold(except)
			}
			return lease, nil
		}
	}
}

// askPatience is how long a gang that has failed waits for the permission to put into place what it has printed.
const askPatience = 10 * time.Second

// asksAlthough reports whether an attempt that has failed asks to put what it has printed into place: a gang, which has no permission before. No
// other attempt can have done the task.
func (a *attempt) asksAlthough(failed error) bool {
	return a.part != nil && failed != nil && process.FailureOf(failed).Outcome == event.Failed && !a.withdrawn()
}

// put puts the files of the attempt into place once that is permitted. Those of an attempt that failed are put into
// place only if it has the permission already, or is a gang, as no other one can have done the task. It returns why the attempt failed.
func (a *attempt) put(l *link, to files.Place, left []disk.File, failed error) error {
	err := failed
	if failed == nil || !a.withdrawn() && (l.leaseLeft(a.commit.Load()) > 0 || a.asksAlthough(failed)) {
		ctx, done := a.putting(l, failed)
		defer done()
		var lease time.Duration
		if err = to.Prepare(ctx, left); err == nil {
			lease, err = a.begin(ctx, l, to)
		}
		if err == nil {
			err = to.Commit(ctx, lease)
		}
	}
	if claims, ok := to.(files.Claims); ok {
		a.beside = claims.Beside()
	}
	if err != nil {
		to.Abort()
	}
	return cmp.Or(failed, err)
}

// putting returns the context in which the files of the attempt are put into place. An attempt that was killed, and
// keeps what its task printed, has the rest of its lease for that.
func (a *attempt) putting(l *link, failed error) (context.Context, context.CancelFunc) {
	if a.asksAlthough(failed) {
		return context.WithTimeout(context.WithoutCancel(a.ctx), askPatience)
	}
	if !a.keeps.Load() {
		return a.ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(a.ctx), l.leaseLeft(a.commit.Load()))
}

// await sends a wish and waits until it is granted. If a permission has expired before it was checked, the wish is
// sent again.
func (a *attempt) await(ctx context.Context, l *link, w wish, m wire.Message, granted func() bool) error {
	select {
	case <-a.nudge: // an old signal
	default:
	}
	defer l.fulfilled(w)
	for !granted() {
		l.want(w, m)
		select {
		case <-a.nudge:
			if !granted() {
				l.fulfilled(w)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// attemptTask is what an attempt does, of a bag (bagTask) or of maps and reduces (streamTask).
type attemptTask interface {
	// run prepares what the task needs, and runs its programs.
	run() error
	// store puts into place what the task leaves, once that is permitted, and discards what may not be put there. It returns why the attempt has failed.
	store(failed error) error
	// release releases all that the attempt has on this node, and returns the last lines of its standard error.
	release(failed error) (stderr string)
}

// live takes an attempt through its states. It is in line until the attempt before it has ended (line), and then it runs, stores and ends.
func (w *worker) live(a *attempt, t attemptTask) {
	err := w.guard(a, t.run)
	err = w.guard(a, func() error { return t.store(err) })
	w.finish(a, err, t.release(err))
}

// finish reports the end of the attempt to the coordinator.
func (w *worker) finish(a *attempt, err error, stderr string) {
	defer w.attend.Done()
	if k := a.killed(); k != nil && err != nil {
		err = k
	}
	if err != nil {
		err = w.excuse(a, w.outcome(err)).AwaitPassing(a.ctx, a.id.N)
	}
	r := process.Ended(a.id, err)
	if r.Outcome == event.Failed || r.Outcome == event.Broken {
		r.Stderr = stderr
		w.log.Info("attempt failed", "attempt", a.id, "outcome", r.Outcome, "reason", r.Reason)
	}
	if r.Left = process.OneLine(a.programs.Left()); r.Left != "" {
		r.Reason = strings.TrimPrefix(r.Reason+"; ended with it, as the program itself had ended: "+r.Left, "; ")
	}
	r.Warning = process.OneLine(strings.Join(append(a.programs.Warnings(), a.warnings...), "; "))
	if r.Warning != "" && r.Outcome == event.Failed && r.Lack == 0 {
		r.Reason += "; " + r.Warning
	}
	if r.Outcome.Committed() {
		r.Outputs = a.outputs
	}
	r.Stats, r.Counters, r.Beside = a.meter.Finish(), a.meter.Counters(), a.beside
	r.Shares = a.shares
	if p := a.gauge.last.Load(); p != nil {
		r.Source, r.N = p.Source, p.N
		r.N = max(r.N, counted(p.Source, a.programs.Counts()))
	}
	if err == nil {
		a.judgeMeasures()
	}
	a.cancel(nil)
	w.mu.Lock()
	w.link.keep(r.Bounded(), a.after) // under the lock, so that the attempt is always either running or ended
	next := w.passOn(a)
	last := w.removed(a)
	w.mu.Unlock()
	if next && r.Outcome == event.Done {
		w.link.tellLater(a.id)
	} else {
		w.link.told(a.id)
	}
	if last {
		w.removeScratch(a.id.Job)
	}
}

// removed removes an attempt that has ended, and reports whether nothing else of its job is here, which was forgotten meanwhile. The caller holds the lock.
func (w *worker) removed(a *attempt) (last bool) {
	delete(w.attempts, a.id)
	last = w.works[a.id.Job] == nil
	for at := range w.attempts {
		last = last && at.Job != a.id.Job
	}
	return last
}

// maxRemoved is the highest attempt number that ends as lost instead of failed when a folder of it was removed. The limit
// stops a task that fails and removes the folder itself.
const maxRemoved = 3

// excuse returns the failure f of an attempt. The attempt is lost if something removed a folder in which its files were
// while it ran.
func (w *worker) excuse(a *attempt, f *process.Failure) *process.Failure {
	if f.Outcome != event.Failed && f.Outcome != event.Broken {
		return f
	}
	w.keepScratch()
	what := a.gone
	if w.scratch.removedSince(a.begun) {
		what = "the scratch folder of its worker"
	}
	switch {
	case what == "":
	case a.id.N > maxRemoved:
		f.Reason += "; " + what + " was removed while it ran"
	default:
		return &process.Failure{Outcome: event.Lost, Reason: what + " was removed while it ran: " + f.Reason}
	}
	return f
}

// miss notes the attempt's folder if it has been removed.
func (a *attempt) miss(folder string) {
	if folder != "" && !exists(folder) {
		a.gone = folder
	}
}

// guard runs f and turns a panic into an error, so that a panic of one attempt does not end the others.
func (w *worker) guard(a *attempt, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("panic in an attempt", "attempt", a.id, "panic", r, "stack", string(debug.Stack()))
			err = process.Broken("berth's own fault in %s: %s", a.id, fmt.Sprint(r))
		}
	}()
	return f()
}

// command returns a program of the attempt.
func (w *worker) command(a *attempt, path string, args []string, dir string, env []string) process.Command {
	return process.Command{Path: path, Args: args, Dir: dir, Env: env, Change: a.work.change, Grace: w.cfg.Grace, Idle: w.cfg.Idle}
}
