package enginetest

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
	"berth/internal/core/step"
)

// Move performs one event, which the chooser selects.
func (w *World) Move() {
	w.crash = w.choose(60) == 0
	switch n := w.choose(32); n {
	case 0, 1:
		w.begin()
	case 2:
		w.workerMove((*World).kill)
	case 3:
		w.workerMove((*World).cut)
	case 4, 5:
		w.workerMove((*World).mend)
	case 6:
		w.workerMove((*World).notice)
	case 7:
		w.pass([]time.Duration{3 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}[w.choose(4)])
	case 8:
		w.user()
	case 9:
		w.answer()
	case 10:
		w.workerMove((*World).spoil)
	case 11:
		w.end()
	case 12:
		w.batch()
	case 13:
		for _, k := range w.workers {
			w.report(k)
		}
		w.pass(3 * time.Second)
	default:
		w.workerMove((*World).proceed)
	}
	w.crash = false
}

// workerMove performs an event of one of the workers.
func (w *World) workerMove(f func(*World, *worker)) {
	if len(w.workers) > 0 {
		f(w, w.workers[w.choose(len(w.workers))])
	}
}

// begin starts a further node of an allocation.
func (w *World) begin() {
	for _, a := range w.allocs {
		if a.req.Elastic && !a.begun {
			w.start(a)
			return
		}
		if a.nodes < a.req.Nodes {
			k := &worker{w: w, id: a.id.Node(a.nodes), alloc: a.id, capacity: w.capacity(a.req), alive: true, disk: &disk{}}
			k.addr = fmt.Sprintf("%s:%d", k.id, 1)
			w.share(k, a)
			a.nodes++
			w.workers = append(w.workers, k)
			k.join()
			return
		}
	}
}

// kill ends a worker process. The coordinator learns of it later.
func (w *World) kill(k *worker) {
	if !k.alive {
		return
	}
	id := k.id
	k.crash(w.choose(4) > 0)
	switch w.choose(4) {
	case 0:
		k.lose(step.NodeDown{Node: id, Reason: "connection lost"})
	case 1:
		k.lose(step.NodeDown{Node: id, Gone: true, Reason: "node failed"})
		if k.outputs == "" {
			k.held = nil
		}
	default:
		k.lose(step.NodeDown{Node: id, Reason: "connection lost"}, step.NodeDown{Node: id, Dead: true, Reason: "killed"})
	}
}

// cut breaks a connection.
func (w *World) cut(k *worker) {
	if k.alive && k.connected {
		k.lose(step.NodeDown{Node: k.id, Reason: "connection lost"})
	}
}

// mend brings a worker back, and restarts its process if it died.
func (w *World) mend(k *worker) {
	if !k.alive {
		k.alive = true
		k.addr += "'"
		k.join()
	} else if !k.connected {
		k.join()
	}
}

// notice lets the coordinator notice that a worker does not answer.
func (w *World) notice(k *worker) {
	if len(k.notices) > 0 {
		in := k.notices[0]
		k.notices = k.notices[1:]
		w.step(in)
	}
}

// spoil damages a map output, or all outputs of a worker.
func (w *World) spoil(k *worker) {
	if len(k.held) > 0 {
		k.bad = append(k.bad, k.held[w.choose(len(k.held))])
	}
}

// report reports the progress of a worker's attempts to the coordinator.
func (w *World) report(k *worker) {
	if !k.connected || !k.alive {
		return
	}
	p := step.Progress{Node: k.id}
	for _, r := range k.runs {
		p.Of = append(p.Of, job.Progress{Attempt: r.Attempt, Source: job.ProgressIO, N: float64(1 + r.phase), Fraction: -1})
	}
	w.step(p)
}

// Assess returns random verdicts. World is the rule of the engine under test.
func (w *World) Assess(v *straggler.View) (all []straggler.Verdict) {
	for _, r := range v.Running {
		if w.chance(2) {
			all = append(all, straggler.Verdict{Attempt: r.Attempt, Act: straggler.Action(w.choose(3)), State: straggler.State(w.choose(4)), Why: "it is a toy"})
		}
	}
	return all
}

// Name returns "chance".
func (w *World) Name() string { return "chance" }

// proceed lets a message arrive, or advances one of the worker's attempts by a step.
func (w *World) proceed(k *worker) {
	switch w.choose(3) {
	case 0:
		k.hear()
	case 1:
		k.deliver()
	default:
		k.loseShare()
		if k.alive && len(k.runs) > 0 {
			k.advance(k.runs[w.choose(len(k.runs))])
		}
	}
}

// end ends an allocation.
func (w *World) end() {
	if len(w.allocs) == 0 || w.choose(6) > 0 {
		return
	}
	w.over(w.allocs[w.choose(len(w.allocs))], "time limit", w.choose(10) == 0)
}

// over ends an allocation for a reason.
func (w *World) over(a *alloc, reason string, refuse bool) {
	for _, k := range w.workers {
		if k.alloc == a.id {
			k.crash(false)
		}
	}
	w.release(a.id)
	down := step.AllocDown{Alloc: a.id, Reason: reason, Refuse: refuse}
	if how := event.AllocEnd(w.choose(12)); how <= event.EndBroken {
		down.How = how
	}
	if down.How == event.EndBroken {
		down.Bad = fmt.Sprint("n", w.choose(4))
	}
	w.step(down)
}

// answer commits the output of a job as a whole.
func (w *World) answer() {
	if len(w.finalize) > 0 {
		id := w.finalize[0]
		w.finalize = w.finalize[1:]
		w.step(step.Finalized{Job: id, Failed: w.chance(4), Reason: "disk full"})
	}
}

// user cancels, changes or resumes one of the jobs, or adds tasks to an open bag.
func (w *World) user() {
	if len(w.open()) > 0 && w.choose(2) == 0 {
		w.feed()
		return
	}
	jobs := w.Engine.Jobs()
	if len(jobs) == 0 {
		return
	}
	j := jobs[w.choose(len(jobs))]
	switch {
	case !j.State.Final():
		switch tasks := w.Ledger.works[j.ID].Tasks; w.choose(16) {
		case 0, 1, 2, 3:
			w.step(step.Cancel{Job: j.ID, Reason: "cancelled"})
		case 4, 5:
			if tasks > 0 && w.Ledger.works[j.ID].Kind == job.Bag {
				w.step(step.Cancel{Job: j.ID, Tasks: []int32{int32(w.choose(tasks)), int32(w.choose(tasks))}})
			}
		case 6:
			w.set(j.ID)
		}
	case j.State != event.StateDone:
		w.resume(j.ID, w.choose(2) == 0)
	}
}

// set changes terms of a job that runs.
func (w *World) set(id job.ID) {
	work := w.Ledger.works[id]
	work.Priority = w.choose(3) - 1
	if w.cfg.Scheduler != sched.Cores {
		work.Weight = float64(w.choose(3))
	}
	if work.Kind == job.Bag {
		work.Throttle = w.choose(4)
	}
	w.step(step.Set{TermsChanged: event.TermsChanged{Job: id, Terms: work.Terms}})
}

// shape returns an allocation in which the job fits.
func (w *World) shape(work job.Work) job.AllocRequest {
	need := w.largest(work)
	r := job.AllocRequest{
		On: "sim", Nodes: 1 + w.choose(3), IdleTimeout: time.Minute, Courteous: w.choose(3) == 0,
		PerNode: job.Resources{CPUs: max(need.CPUs, 1+w.choose(3)), Mem: max(need.Mem, int64(4+w.choose(4))), GPUs: max(need.GPUs, w.choose(3)), GPUType: "x"},
	}
	r.Nodes = max(r.Nodes, w.nodesOf(work, r.PerNode))
	return r
}

// demands returns a random profile of the phases of such a job. A phase may need more than a node has.
func (w *World) demands(kind job.Kind) []job.PhaseDemand {
	var all []job.PhaseDemand
	for _, k := range []job.TaskKind{kind.TaskKind(1, 0), kind.TaskKind(0, 0)} {
		for _, p := range k.Phases() {
			if w.choose(3) > 0 {
				all = append(all, job.PhaseDemand{Phase: p, Seconds: float64(w.choose(3)), Demand: job.Vector{
					CPU: int64(w.choose(6)) * job.Milli / 2, Memory: int64(w.choose(6)), Disk: int64(w.choose(4)) * 40, Net: int64(w.choose(4)) * 40}})
			}
		}
	}
	return all
}

// Submit submits a job of random size.
func (w *World) Submit() {
	n := len(w.jobs) + 1
	work := job.Work{
		ID: job.ID(fmt.Sprintf("bag-%d", n)), Kind: job.Bag, Tasks: w.choose(12),
		Terms: job.Terms{Attempts: 1 + w.choose(3), Need: job.Resources{CPUs: 1 + w.choose(2), Mem: int64(w.choose(5)), GPUs: w.choose(2) * w.choose(2)}, MaxFails: w.choose(4) - 1, Throttle: w.choose(4), Requeues: w.choose(3) == 0},
	}
	if w.choose(2) == 0 {
		work.ID, work.Kind, work.Throttle, work.MaxFails = job.ID(fmt.Sprintf("mr-%d", n)), job.MapReduce, 0, 0
		work.Requeues = false
		work.Reduces, work.ReduceAttempts = w.choose(5), 1+w.choose(3)
		work.ReduceNeed = job.Resources{CPUs: 1 + w.choose(2), Mem: int64(w.choose(5))}
		work.SlowStart = float64(w.choose(5)) / 4
	}
	large := work.Kind == job.Bag && w.cfg.Behind > 0 && w.choose(2) == 0
	if large { // enough for lines of short tasks
		work.Tasks, work.Throttle, work.MaxFails = 10*work.Tasks, 0, -1
	}
	work.Open = work.Kind == job.Bag && w.choose(5) == 0
	work.Shares = work.Kind == job.Bag && w.choose(2) == 0
	if w.cfg.Scheduler != sched.Cores {
		work.Weight, work.Demands = float64(w.choose(3)), w.demands(work.Kind)
	}
	if work.Kind == job.Bag {
		files := make([]byte, work.Tasks)
		for i := range files {
			files[i] = '0' + byte(i*i%5)
		}
		work.DataHosts = Shared(string(files))
		work.Gang = w.gang()
		needs := w.needs(work.Tasks)
		work.Further, work.Which = needs.Further, needs.Runs()
		w.grows(&work)
		if !large { // else it would have no lines, and take long
			work.Uses = uses(n)
		}
	}
	work.Duplicates, work.ReduceDuplicates = w.choose(3) > 0, w.choose(3) > 0
	work.Stragglers = []job.Stragglers{job.StragglersAuto, job.StragglersAuto, job.StragglersDuplicate, job.StragglersAbort, job.StragglersTell}[w.choose(5)]
	if w.choose(3) == 0 {
		work.Due = w.Now.Add(time.Duration(w.choose(600)) * time.Second)
	}
	w.chooseRequests(&work)
	if len(w.jobs) > 0 && !work.Alloc.Elastic && w.choose(3) > 0 { // other jobs have the same shape
		if a := w.jobs[w.choose(len(w.jobs))].Alloc; !a.Elastic && w.largest(work).Fits(a.PerNode) && w.nodesOf(work, a.PerNode) <= a.Nodes {
			work.Alloc = a
		}
	}
	w.submit(work)
}

// SubmitOne submits a bag of one task, which writes the same files as those of other such bags. Each has a node of its own.
func (w *World) SubmitOne() {
	work := job.Work{ID: job.ID(fmt.Sprintf("bag-%d", len(w.jobs)+1)), Kind: job.Bag, Tasks: 1, Shares: true,
		Terms: job.Terms{Attempts: 3, MaxFails: -1, Need: job.Resources{CPUs: 1}}}
	work.Duplicates = w.choose(2) == 0
	work.Alloc = job.AllocRequest{On: "sim", Nodes: 3, IdleTimeout: time.Minute, PerNode: job.Resources{CPUs: 1, Mem: 4}}
	w.submit(work)
}

func (w *World) submit(work job.Work) {
	w.jobs = append(w.jobs, work)
	w.step(step.Submit{Work: work})
	if _, ok := w.Engine.Job(work.ID); !ok { // the coordinator died before the submission was written
		w.jobs = w.jobs[:len(w.jobs)-1]
		if w.Ledger.works[work.ID].ID != "" {
			w.fail("%s was submitted and is forgotten", work.ID)
		}
	}
}

// Finish lets everything succeed until all jobs are over, and resumes
// those that failed or were cancelled until all are done.
func (w *World) Finish() {
	w.calm = true
	for range 20 {
		w.quiet()
		again := false
		for _, j := range w.Engine.Jobs() {
			if j.State != event.StateDone {
				again = true
				w.resume(j.ID, true)
			}
		}
		if !again {
			w.checkAll()
			w.drain()
			return
		}
	}
	w.fail("jobs do not get done:\n%s", w.describe())
}

// mostMessages is more than a worker and the engine exchange at one time.
const mostMessages = 10_000

// quiet lets everything succeed until all jobs are over.
func (w *World) quiet() {
	for round := 0; len(w.unfinished()) > 0; round++ {
		if round > 2000 {
			w.fail("jobs do not end:\n%s", w.describe())
			return
		}
		w.begin()
		w.closeAll()
		w.answer()
		w.answerPlan()
		w.answerClear()
		for _, k := range slices.Clone(w.workers) {
			if w.worker(k.id) != k {
				continue
			}
			w.mend(k)
			for n := 0; len(k.in)+len(k.out) > 0 && w.worker(k.id) == k; n++ {
				if n > mostMessages {
					w.fail("the engine has a worker start and end attempts for ever:\n%s", w.describe())
					return
				}
				k.hear()
				k.deliver()
			}
			for _, r := range slices.Clone(k.runs) {
				if k.find(r.Attempt) == r {
					k.advance(r)
				}
			}
		}
		w.pass(time.Second)
	}
}

// checkAll checks the invariants of the state in which all jobs are done.
func (w *World) checkAll() {
	for _, work := range w.jobs {
		w.checkDone(work.ID)
	}
	for _, k := range w.workers {
		if len(k.gangs) > 0 && len(k.in) == 0 && k.connected {
			w.fail("%s has joined %v, which are over", k.id, k.gangs)
		}
	}
	if len(w.Ledger.live) > 0 {
		w.fail("attempts run though all jobs are done: %v", w.Ledger.live)
	}
}

// capacity returns the resources of a node of the allocation; the rates of its disk and its network may be unknown.
func (w *World) capacity(r job.AllocRequest) job.Resources {
	c := r.PerNode
	if w.cfg.Scheduler != sched.Cores {
		c.Disk, c.Net = int64(w.choose(3))*60, int64(w.choose(3))*60
	}
	return c
}
