package engine

import (
	"time"

	"berth/internal/job"
	"berth/internal/sched"
)

// expect sets what the plan expects tasks to take. A time that none of the allocations
// has that were asked for is not believed: else nothing would ever start on them.
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

// setMeans sets the mean times of tasks that a plan predicts, where it predicts them.
func (j *jobState) setMeans(t job.TaskTimes) {
	for i, d := range t.Means() {
		if d > 0 {
			j.Left[i].Planned = d
		}
	}
}

// learn takes in that an attempt is done.
func (e *Engine) learn(a *attempt, at job.Time, stats []job.PhaseStat) {
	j, i := a.job, a.ID.Task
	j.uncut(i)
	took := a.took(at, stats)
	j.Left[j.class(i)].Add(took, !a.endless())
	j.past[j.class(i)].Add(took, a.track)
	if j.pool != nil && j.pool.Learn(&a.node.Node, &j.Job, stats) {
		j.demand()
	}
	j.dones++
	if j.unproductive.n > 0 {
		j.unproductive = unproductive{}
	}
}

// took returns how long the attempt took that ended then: by its worker's clock, as its
// end may have been told late; by ours where the worker says nothing. Of a reduce the
// shuffle does not count.
func (a *attempt) took(at job.Time, stats []job.PhaseStat) time.Duration {
	if len(stats) > 0 && stats[0].Phase == job.PhaseShuffle {
		stats = stats[1:]
	}
	if len(stats) == 0 {
		return max(0, at.Sub(a.working))
	}
	var sum time.Duration // without what it waited for a grant between its phases
	for i := range stats {
		sum += stats[i].Duration()
	}
	return max(0, sum)
}

// outlived reports whether the attempt's allocation, or its time, is over.
func (a *attempt) outlived(now job.Time) bool {
	l := a.alloc
	return l != nil && (l.ended || l.begun && l.Ends != 0 && now >= l.Ends)
}

// endless reports whether the attempt's allocation lasts until it is given back, as far as is known.
func (a *attempt) endless() bool { return a.alloc == nil || a.alloc.pool.shape.Endless() }

// ends returns when the time of the attempt's allocation is over, 0 for never.
func (a *attempt) ends() job.Time {
	if a.alloc == nil {
		return 0
	}
	return a.alloc.Ends
}

// cutShort takes in that the end of its allocation ended an attempt. Its task is to be
// started again where there is more time, if it had run for longer than expected. Of one that
// was cut short while no coordinator was there nobody knows how long it had run: it may even
// have been done, and its worker could not tell.
func (j *jobState) cutShort(a *attempt, at job.Time) {
	i := a.ID.Task
	t := &j.Left[j.class(i)].Times
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

// uncut takes in that a task is over: how long it had run before does not matter any more.
func (j *jobState) uncut(i int) {
	if !j.tasks[i].cut {
		return
	}
	j.tasks[i].cut = false
	t := &j.Left[j.class(i)].Times
	if t.Cuts--; t.Cuts == 0 {
		t.Longest = 0
	}
}

// tooLate says why a reduce is killed that only shuffles.
const tooLate = "the time left of its allocation is too short for it to sort and reduce"

// infeasible reports whether the attempt is a reduce that could not end in time any more.
func (a *attempt) infeasible(now job.Time) bool {
	return a.Shuffles() && !sched.InTime(now, a.ends(), a.span())
}

// span returns how much time must be left when the reduce gets a grant to sort.
func (a *attempt) span() time.Duration { return a.job.Left[1].Span(a.job.tasks[a.ID.Task].cut) }

// dropInfeasible kills the reduces of the pool that shuffle and could not end in time.
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
	ready [2]bool          // there are bag tasks or maps, reduces
	span  [2]time.Duration // that the next of them needs; 0 where no allocation ends
	scout bool             // enough tasks are done to plan the rest anew
}

// next returns the kind of the task that comes next, as an index; ok is false where none is ready.
func (w waits) next() (class int, ok bool) {
	if !w.ready[0] {
		return 1, w.ready[1]
	}
	return 0, true
}

// waiting returns how many ready tasks of a kind there are.
func (j *jobState) waiting(class int) int {
	return j.Begin[class].Ready.Count() + j.Urgent[class].Ready.Alone()
}

// review finds what the job, which has a pool, waits for, and has allocations looked at where
// that changed. Where no allocation ends it does not matter how long tasks take.
func (e *Engine) review(j *jobState) {
	startable := j.active() && j.unfinished() > 0
	w := waits{ready: [2]bool{startable && j.waiting(0) > 0, startable && j.waiting(1) > 0}}
	if startable && !j.pool.shape.Endless() {
		w.span = [2]time.Duration{j.Left[0].Span(j.Begin[0].Ready.CutOnly()), j.Left[1].Span(j.Begin[1].Ready.CutOnly())}
		w.scout = j.work.Scout > 0 && j.counts[0].done >= j.work.Scout
	}
	if w != j.waits {
		j.waits = w
		e.touchAllocs()
	}
}
