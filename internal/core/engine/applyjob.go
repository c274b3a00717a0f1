package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

func (e *Engine) applySubmitted(at job.Time, r event.JobSubmitted) {
	w := r.Work
	if e.jobs[w.ID] != nil {
		return
	}
	j := &jobState{work: w, state: event.StateQueued, submitted: at}
	j.ID, j.Owner, j.Released = w.ID, j, at
	j.tasks, j.live = make([]task, 0, w.Total()), make([]*attempt, 1)
	if j.shuffles() {
		j.holder = make([]int32, w.Tasks)
	}
	j.Known.AddProfile(w.Demands)
	j.addNeeds()
	j.growth.begin(j)
	if w.Kind == job.MapReduce {
		j.addTasks([]job.NeedsRun{{Tasks: int32(w.Tasks)}, {Tasks: int32(w.Reduces), Index: 1}})
	} else {
		j.addTasks(needsRuns(w.Tasks, w.Which))
	}
	j.work.Which = nil // which has it
	for _, t := range j.of {
		if t.Kind() != job.ReduceTask {
			t.Begin.Ready.Near(w.DataHosts)
		}
	}
	j.expect(&w)
	e.jobs[w.ID] = j
	e.line = append(e.line, j)
	if w.Shares {
		e.claimFiles(at, j)
	}
	j.after = slices.Clone(w.After)
	e.admitJob(at, j)
}

// enterLine puts a job at the end of the line.
func (e *Engine) enterLine(j *jobState) {
	e.orders++
	p := e.poolFor(job.ShapeOf(j.work.Alloc))
	j.Weight = j.work.Share() // a resume may have changed it
	p.addJob(j)
	j.demand()
	j.recount()
	j.setUrgency(e.now)
	j.Priority = sched.Priority{Level: j.work.Priority, Rank: p.Rank(&j.Job), Order: e.orders}
	j.supply = supply{}
	if j.work.Alloc.Nodes == 0 || p.shape.Endless() {
		j.asked = 1 // it was planned on idle allocations, or shares the machine's allocation
	}
	e.enqueue(j)
	e.touchJob(j)
	e.touchAllocs()
}

func (e *Engine) applyResumed(at job.Time, j *jobState, r event.JobResumed) {
	if !j.state.Final() || j.tasks == nil {
		return
	}
	before := j.work.Terms
	r.Change(&j.work)
	j.renewNeeds(before)
	j.expect(&j.work)
	j.state, j.ending, j.code, j.reason = event.StateQueued, "", job.CodeFailed, ""
	j.Released, j.thisRun = max(j.submitted, at), thisRun{}
	for i := range j.tasks {
		e.renew(j, i, r.Failed)
	}
	if r.Failed {
		j.cancelled = nil
	}
	j.forgetSkipped()
	j.taken = nil
	if len(j.claims) > 0 {
		j.claims = nil
		e.claimFiles(at, j)
	}
	e.admitJob(at, j)
}

// renew gives a task of a resumed job its attempts back. The map outputs of nodes
// that are gone may be found on other nodes.
func (e *Engine) renew(j *jobState, i int, again bool) {
	t := &j.tasks[i]
	if t.status == done {
		if j.shuffles() && i < j.work.Tasks {
			if n := e.nodeList[j.holder[i]]; n == nil || !n.hasOutputs() {
				j.holder[i] = 0
				j.unclaimed++
			}
		}
		return
	}
	t.fails, t.lost, t.bad, t.quick = 0, 0, 0, 0
	if t.status != failed || !again && j.work.Kind != job.MapReduce {
		return
	}
	if j.order.left[int32(i)] > 0 {
		j.moveTask(i, blocked)
		return
	}
	j.moveTask(i, ready)
	j.retryTask(i, 0)
}

// applyJob applies the records of a whole job but for its submission. What follows from them is the same for all.
func (e *Engine) applyJob(at job.Time, j *jobState, r event.Record) {
	switch r := r.(type) {
	case event.JobResumed:
		e.applyResumed(at, j, r)
	case event.JobFollowed:
		e.applyFollowed(at, j, r)
		return // what waits for further jobs is not asked for again
	case event.FilesTaken:
		j.applyTaken(r)
		return
	case event.BagClosed: // its first plan waits no longer
		j.work.Open, j.closed = false, true
	default:
		if j.state.Final() {
			return
		}
		e.applyLive(at, j, r)
	}
	e.restBag(at, j)
	e.enqueue(j)
	e.touchJob(j)
	e.touchAllocs()
}

// applyLive applies the records of a job that is not over.
func (e *Engine) applyLive(at job.Time, j *jobState, r event.Record) {
	switch r := r.(type) {
	case event.JobStopping:
		j.state, j.ending, j.code, j.reason = event.StateStopping, r.State, r.Code, r.Reason
		for _, a := range j.sorted() { // the order in which nodes are freed is the order of the search
			a.KillReason = r.Reason
			e.unwantGrant(a)
		}
	case event.JobFinalizing:
		j.state = event.StateFinalizing
		e.dirtyOver = true // its map outputs are of no use any more
	case event.JobEnded:
		e.applyJobEnded(at, j, r)
	case event.TermsChanged:
		e.applyTerms(j, r)
	case event.JobPlanned:
		j.applyPlanned(at, r)
	case event.NeedsChanged:
		j.applyNeeds(r)
	case event.TasksAdded:
		e.applyAdded(at, j, r)
	case event.TasksSkipped:
		j.applySkipped(r)
	case event.TasksCancelled:
		e.applyCancelled(j, r)
	default:
		panic(fmt.Sprintf("engine: unknown record %T", r))
	}
}

func (e *Engine) applyJobEnded(at job.Time, j *jobState, r event.JobEnded) {
	j.state, j.ending, j.code, j.reason, j.ended = r.State, "", r.Code, r.Reason, at
	for _, a := range j.sorted() { // there are none, unless another version of berth wrote the journal
		if e.removeAttempt(at, a); j.tasks[a.ID.Task].status == running && j.firstAttempt(a.ID.Task) == nil {
			j.moveTask(a.ID.Task, ready)
			j.retryTask(a.ID.Task, 0)
		}
	}
	e.enqueue(j)
	if p := j.pool; p != nil {
		p.removeJob(j, at)
		e.prunePool(p)
	}
	e.sharing = slices.DeleteFunc(e.sharing, func(k *jobState) bool { return k == j })
	for _, k := range e.line {
		if slices.Contains(k.after, j.ID) {
			e.touchJob(k)
		}
	}
	e.dirtyOver = true
	if r.State == event.StateDone { // it cannot be resumed
		j.tasks, j.live, j.vacant, j.which, j.of, j.By, j.growth = nil, nil, nil, nil, nil, nil, growth{}
		j.counts[0].done = j.counts[0].total // although outputs that no reduce needed may be lost
	}
}

// applyOutput applies that the output of a map was lost or found.
func (e *Engine) applyOutput(r event.Record) {
	switch r := r.(type) {
	case event.OutputLost:
		if j := e.heldMap(r.Job, r.Task); j != nil {
			e.applyOutputLost(j, r)
		}
	case event.OutputHeld:
		j := e.heldMap(r.Attempt.Job, r.Attempt.Task)
		if j == nil || j.tasks[r.Attempt.Task].winner() != r.Attempt.N {
			return
		}
		if j.holder[r.Attempt.Task] == 0 && j.unclaimed > 0 {
			j.unclaimed--
		}
		j.holder[r.Attempt.Task] = int32(e.node(r.Node).Index)
	}
}

// heldMap returns the job if the task is a map of it that is done and whose output is held for reduces.
func (e *Engine) heldMap(id job.ID, i int) *jobState {
	j := e.jobs[id]
	if j == nil || !j.shuffles() || i < 0 || i >= j.work.Tasks || j.tasks == nil || j.tasks[i].status != done {
		return nil
	}
	return j
}

func (e *Engine) applyOutputLost(j *jobState, r event.OutputLost) {
	t := &j.tasks[r.Task]
	if j.holder[r.Task] == 0 && j.unclaimed > 0 {
		j.unclaimed--
	}
	if r.Bad && t.bad < 255 {
		t.bad++
	}
	j.moveTask(r.Task, ready)
	j.retryTask(r.Task, j.holder[r.Task])
	j.holder[r.Task] = 0
	e.enqueue(j)
	e.touchJob(j)
}
