package enginetest

import (
	"slices"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// start starts an allocation of the batch system. The coordinator may hear of it after
// the first workers have connected.
func (w *World) start(a *alloc) {
	a.begun = true
	if a.req.Time > 0 {
		a.ends = w.Now.Add(a.req.Time)
	}
	if w.choose(2) == 0 {
		w.tellUp(a)
	}
}

func (w *World) tellUp(a *alloc) {
	a.told = true
	w.step(step.AllocUp{Alloc: a.id, Ends: a.ends})
}

// share puts a node's map outputs on the shared file system, as most batch systems have one.
func (w *World) share(k *worker, a *alloc) {
	if a.req.Elastic && w.choose(4) > 0 {
		k.outputs = "/shared/" + string(k.id)
		if w.disks[k.outputs] == nil {
			w.disks[k.outputs] = k.disk
		}
		k.disk = w.disks[k.outputs]
	}
}

// batch performs one of the events that only a batch system has.
func (w *World) batch() {
	switch w.choose(6) {
	case 0, 1:
		w.answerPlan()
	case 2:
		w.answerClear()
	case 3:
		for _, a := range w.allocs {
			if a.begun && !a.told {
				w.tellUp(a)
				return
			}
		}
	case 4:
		w.note()
	case 5:
		for _, a := range w.allocs {
			if a.begun && a.ends != 0 && w.choose(3) == 0 { // an administrator changes its wall time
				a.ends = w.Now.Add(w.span())
				w.tellUp(a)
				return
			}
		}
	}
}

// note reports what an allocation waits for.
func (w *World) note() {
	for _, a := range w.allocs {
		if a.req.Elastic && !a.begun {
			w.step(step.AllocNote{Alloc: a.id, Note: "Resources", Start: w.Now.Add(w.span())})
			return
		}
	}
}

// span returns a wall time; a sufficient one if calm.
func (w *World) span() time.Duration {
	if w.calm {
		return 100 * time.Hour
	}
	return []time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute, time.Hour}[w.choose(4)]
}

// timeLimits ends the allocations whose wall time is over.
func (w *World) timeLimits() {
	for _, a := range slices.Clone(w.allocs) {
		if !a.begun || a.ends == 0 || w.Now < a.ends || !slices.Contains(w.allocs, a) {
			continue
		}
		if w.chance(2) {
			w.signal(a)
		}
		if slices.Contains(w.allocs, a) {
			w.over(a, "time limit", false)
		}
	}
}

// signal lets workers report tasks that the batch system ended, before the coordinator knows that
// the allocation is over.
func (w *World) signal(a *alloc) {
	for _, k := range slices.Clone(w.workers) {
		if k.alloc != a.id || !k.connected {
			continue
		}
		outcome, reason := event.Failed, signalled
		if w.choose(2) == 0 {
			outcome, reason = event.Lost, "its worker was told to end"
		}
		for _, r := range slices.Clone(k.runs) {
			k.end(r, outcome, reason)
		}
		k.send()
		for len(k.out) > 0 && w.worker(k.id) == k {
			k.deliver()
		}
	}
}

// planWanted notes that a plan was requested.
func (w *World) planWanted(a step.Plan) {
	if slices.ContainsFunc(w.plans, func(b asked) bool { return a.Job == b.Job && !b.stale }) && !w.mixed[a.Job] {
		w.fail("two plans are on the way for %s", a.Job)
	}
	s, ok := w.Engine.Job(a.Job)
	left := func(t step.Tally) int { return t.Total - t.Done - t.Failed }
	over := s.State.Final() // a plan may be requested before the step finds that the job fails; its answer has no effect
	if !ok || over && s.Ended != w.Now || a.Remaining.Tasks+a.Remaining.Reduces == 0 || a.Remaining.Tasks < left(s.Tasks) || a.Remaining.Reduces < left(s.Reduces) {
		w.fail("plan of %+v asked for, of %+v", a, s)
	}
	p := asked{Plan: a, stale: over}
	if w.Planner != nil && !over {
		p.answer = w.Planner(a)
	}
	w.plans = append(w.plans, p)
}

// asked is a requested plan.
type asked struct {
	step.Plan
	stale  bool       // its job ended meanwhile
	answer job.Answer // of World.Planner, by what there was when the plan was requested
}

// answerPlan answers the oldest request for a plan.
func (w *World) answerPlan() {
	if len(w.plans) == 0 {
		return
	}
	a := w.plans[0]
	w.plans = w.plans[1:]
	if a.stale {
		if w.choose(2) == 0 {
			return // a coordinator need not answer for a job that was over
		}
		w.mixed[a.Job] = true // the answer may be taken for that to a later request
	}
	in := step.Planned{Job: a.Job, Answer: job.Answer{Decision: "toy"}}
	switch {
	case w.chance(6):
		in.Failed, in.Retry = "the controller does not answer", w.Now.Add(time.Duration(1+w.choose(5))*time.Minute)
	case w.chance(20):
		in.Failed = "no partition is open"
	case w.Planner != nil:
		in.Answer = a.answer
	case w.chance(8): // the present allocations suffice
	default:
		in.Scout, in.TaskTime = w.choose(3)*w.choose(4), time.Duration(w.choose(2))*w.span()/2
		in.TaskMean = in.TaskTime * time.Duration(1+w.choose(3)) / 4
		for range 1 + w.choose(2) {
			in.Allocs = append(in.Allocs, w.request1(w.work(a.Job)))
		}
	}
	w.step(in)
}

// clear removes the remains of an allocation, which may fail.
func (w *World) clear(id job.AllocID) {
	w.Ledger.Clear(id)
	if w.cleared[id] {
		w.fail("%s is cleared twice", id)
	}
	w.cleared[id] = true
	for path := range w.disks {
		if allocOf(job.NodeID(strings.TrimPrefix(path, "/shared/"))) == id {
			*w.disks[path] = disk{}
		}
	}
	if !w.chance(5) {
		w.clears = append(w.clears, id)
	}
}

// answerClear reports that an allocation is cleared.
func (w *World) answerClear() {
	if len(w.clears) > 0 {
		id := w.clears[0]
		w.clears = w.clears[1:]
		w.step(step.Cleared{Alloc: id})
	}
}

// chooseRequests chooses the requests of a job.
func (w *World) chooseRequests(work *job.Work) {
	work.Alloc, work.Followup = w.shape(*work), job.Followup{}
	work.TaskMean, work.ReduceMean = time.Duration(w.choose(3))*time.Second, time.Duration(w.choose(3))*time.Minute
	if w.choose(2) == 0 {
		return
	}
	work.Alloc = w.request1(*work)
	if w.choose(6) == 0 {
		work.Alloc.Nodes = 0 // it relies on allocations that others requested
	}
	for range w.choose(3) {
		work.More = append(work.More, w.request1(*work))
	}
	work.Scout = w.choose(2) * w.choose(5)
	work.TaskTime, work.ReduceTime = time.Duration(w.choose(2))*w.span()/3, time.Duration(w.choose(2))*w.span()/3
}

// request1 returns a request to the batch system with room for the job.
func (w *World) request1(work job.Work) job.AllocRequest {
	r := w.shape(work)
	r.On, r.Elastic, r.Batch.Partition, r.Time = "batch", true, "p", w.span()
	if need := work.NeedsAt(0).Resources(); work.Kind == job.Bag && w.chance(3) { // large enough for some of its tasks
		r.PerNode.CPUs, r.PerNode.Mem, r.PerNode.GPUs = need.CPUs, need.Mem, need.GPUs
	}
	if strings.HasSuffix(string(work.ID), "3") {
		r.Batch.Partition = "q"
	}
	if w.chance(3) {
		r.Latest = w.Now.Add(w.span())
	}
	return r
}

// resume resumes a job that is over, on allocations of the same kind or of another.
func (w *World) resume(id job.ID, failed bool) {
	work := w.work(id)
	w.chooseRequests(&work)
	w.step(step.Resume{JobResumed: event.JobResumed{Job: id, Failed: failed, Alloc: work.Alloc, Followup: work.Followup}})
}

// drain lets time pass when all jobs are done, and checks that all allocations are given back and cleared.
func (w *World) drain() {
	w.Restart() // a new coordinator repeats what a driver failed to clear
	for range 20 {
		w.begin()
		for _, k := range slices.Clone(w.workers) {
			w.mend(k)
		}
		w.pass(time.Minute)
		for len(w.clears) > 0 {
			w.answerClear()
		}
	}
	if live := w.Engine.Allocs(); len(live) > 0 {
		w.fail("nothing is left to do, but there are %v", live)
	}
	if n := w.Engine.Kept(); n > 0 {
		w.fail("nothing is left to do, but of %d allocations something is kept", n)
	}
	w.Ledger.checkCleared()
	for path, d := range w.disks {
		if len(d.held) > 0 {
			w.fail("%s is left", path)
		}
	}
}
