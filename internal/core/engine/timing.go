package engine

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// expect sets the task times that the plan predicts. A time that none of the requested allocations
// has is ignored, as nothing would ever start on them otherwise.
func (j *jobState) expect(w *job.Work) {
	j.setMeans(w.TaskTimes)
	for i, d := range w.Upper() {
		t := &j.Left[i].Times
		t.Hint, t.Most = 0, 0
		for _, r := range append([]job.AllocRequest{w.Alloc}, w.More...) {
			if r.Time == 0 || sched.Span(d) <= r.Time {
				t.Hint = max(0, d)
			}
		}
	}
}

// setMeans sets the mean task times that a plan predicts, as far as it predicts them.
func (j *jobState) setMeans(t job.TaskTimes) {
	for i, d := range t.Means() {
		if d > 0 {
			j.Left[i].Planned = d
		}
	}
}

// learn adds the measurements of an attempt that is done. Earlier attempts of its task did the kept work.
func (e *Engine) learn(a *attempt, at job.Time, stats []job.PhaseStat, kept time.Duration) {
	j, i := a.job, a.ID.Task
	j.uncut(i)
	took := a.took(at, stats)
	j.Left[j.kind(i)].Add(took+kept, !a.endless())
	j.past[j.kind(i)].Add(took, a.track)
	if j.pool != nil && j.pool.Learn(&a.node.Node, &j.Job, stats) {
		j.demand()
	}
	if j.unproductive.n > 0 {
		e.touchAllocs()
	}
	j.worked()
}

// took returns the duration of the attempt that ended at that time: by its worker's clock, as the
// report may have come late, or by the engine's time if the worker reports no phases. For a reduce it
// does not include the shuffle.
func (a *attempt) took(at job.Time, stats []job.PhaseStat) time.Duration {
	if len(stats) > 0 && stats[0].Phase == job.PhaseShuffle {
		stats = stats[1:]
	}
	if len(stats) == 0 {
		return max(0, at.Sub(a.working))
	}
	var sum time.Duration // without the time between its phases, when it waited for a grant
	for i := range stats {
		sum += stats[i].Duration()
	}
	return max(0, sum)
}

// outlived reports whether the attempt's allocation, or its wall time, is over.
func (a *attempt) outlived(now job.Time) bool {
	l := a.alloc
	return l != nil && (l.ended || l.begun && l.Ends != 0 && now >= l.Ends)
}

// endless reports whether the attempt's allocation lasts until it is given back, as far as known.
func (a *attempt) endless() bool { return a.alloc == nil || a.alloc.pool.shape.Endless() }

// ends returns the end of the wall time of the attempt's allocation, 0 for never.
func (a *attempt) ends() job.Time {
	if a.alloc == nil {
		return 0
	}
	return a.alloc.Ends
}

// cutShort handles that the end of its allocation ended an attempt. If it had run for longer than expected, its
// task starts again where there is more time. If it was cut short while no coordinator was running, its
// duration is unknown: it may even have been done without its worker being able to report that.
func (j *jobState) cutShort(a *attempt, at job.Time) {
	i := a.ID.Task
	t := &j.Left[j.kind(i)].Times
	ran := at.Sub(a.working)
	if a.Shuffles() || a.node.unseen || ran <= t.Expected() {
		return
	}
	t.Longest = max(t.Longest, ran)
	if !j.tasks[i].cut {
		j.tasks[i].cut = true
		t.Cuts++
	}
}

// uncut handles that a task is over: how long it had run before no longer matters.
func (j *jobState) uncut(i int) {
	if !j.tasks[i].cut {
		return
	}
	j.tasks[i].cut = false
	t := &j.Left[j.kind(i)].Times
	if t.Cuts--; t.Cuts == 0 {
		t.Longest = 0
	}
}

// tooLate is the reason for killing a shuffling reduce that is infeasible.
const tooLate = "the time left of its allocation is too short for it to sort and reduce"

// infeasible reports whether the attempt is a shuffling reduce that cannot end in time.
func (a *attempt) infeasible(now job.Time) bool {
	return a.Shuffles() && !sched.InTime(now, a.ends(), a.span())
}

// span returns how much time must be left when the reduce gets a grant to sort.
func (a *attempt) span() time.Duration { return a.job.Left[1].Span(a.job.tasks[a.ID.Task].cut) }

// dropInfeasible kills the infeasible shuffling reduces of the pool.
func (e *Engine) dropInfeasible(p *pool) {
	for _, n := range p.nodes {
		if n.Shuffles == 0 || n.state != up {
			continue
		}
		for _, a := range e.on(n) {
			if a.KillReason == "" && a.infeasible(e.now) {
				e.kill(a, tooLate)
			}
		}
	}
}

// waits is what the ready tasks of a job wait for.
type waits struct {
	ready [2]bool          // there are ready bag tasks or maps, or reduces
	span  [2]time.Duration // time that the next of them needs; 0 if no allocation ends
	scout bool             // enough tasks are done to plan the rest again
}

// next returns the kind of the task that comes next, as an index; ok is false if none is ready.
func (w waits) next() (kind int, ok bool) {
	if !w.ready[0] {
		return 1, w.ready[1]
	}
	return 0, true
}

// waiting returns the number of ready tasks of a kind.
func (j *jobState) waiting(kind int) int {
	return j.Begin[kind].Ready.Count() + j.Urgent[kind].Ready.WithoutAttempt()
}

// review computes what the job, which has a pool, waits for, and updates allocations if
// that has changed. If no allocation ends, task times do not matter.
func (e *Engine) review(j *jobState) {
	startable := j.active() && j.unfinished() > 0
	w := waits{ready: [2]bool{startable && j.waiting(0) > 0, startable && j.waiting(1) > 0}}
	if startable && !j.pool.shape.Endless() {
		w.span = [2]time.Duration{j.span(0, j.Begin[0].Ready.CutOnly()), j.span(1, j.Begin[1].Ready.CutOnly())}
		w.scout = j.work.Scout > 0 && j.counts[0].done >= j.work.Scout
	}
	if w != j.waits {
		j.waits = w
		e.touchAllocs()
	}
}
