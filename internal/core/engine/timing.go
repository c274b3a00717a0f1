package engine

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// expect sets the task times that the plan predicts. A time that none of the requested allocations
// has is ignored, as nothing would ever start on them otherwise.
func (j *jobState) expect(w *job.Work) {
	j.setMeans(w.TaskTimes)
	for _, like := range j.of {
		d, t := w.Upper()[sched.KindIndex(like.Kind())], &like.Left.Times
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
	for _, like := range j.of {
		if d := t.Means()[sched.KindIndex(like.Kind())]; d > 0 {
			like.Left.Planned = d
		}
	}
}

// learnMeasures adds the measurements of an attempt that is done. Earlier attempts of its task did the kept work.
func (e *Engine) learnMeasures(a *attempt, at job.Time, stats []job.PhaseStat, kept time.Duration) {
	j, i := a.job, a.ID.Task
	j.forgetCut(i)
	took := a.duration(at, stats)
	like := j.tasksAlike(i)
	computing := like.running
	if a.Kind == job.ReduceTask {
		computing -= j.Shuffles
	}
	like.Left.Add(took+kept, computing, !a.endless() || j.pool != nil && j.pool.Gangs)
	if like.Begin.Several() {
		j.Gangs.Add(took+kept, computing, true)
	}
	like.past.Add(took, a.track)
	if j.pool != nil && !a.Of.Begin.Several() && j.pool.Learn(&a.node.Node, &j.Job, stats) {
		j.demand()
	}
	if j.unproductive != (unproductive{}) {
		e.touchAllocs()
	}
	j.worked()
}

// duration returns the duration of the attempt that ended at that time: by its worker's clock, as the
// report may have come late, or by the engine's time if the worker reports no phases. For a reduce it
// does not include the shuffle.
func (a *attempt) duration(at job.Time, stats []job.PhaseStat) time.Duration {
	if len(stats) > 0 && stats[0].Phase == job.PhaseShuffle {
		stats = stats[1:]
	}
	if len(stats) == 0 {
		return max(0, at.Sub(a.Working))
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

// wallEnd returns the end of the wall time of the attempt's allocation, 0 for never.
func (a *attempt) wallEnd() job.Time {
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
	t := &j.tasksAlike(i).Left.Times
	ran := at.Sub(a.Working)
	if a.Shuffles() || a.node.unseen || ran <= t.Expected() {
		return
	}
	t.Longest = max(t.Longest, ran)
	if !j.tasks[i].cut {
		j.tasks[i].cut = true
		t.Cuts++
	}
}

// tooLong turns the end of an attempt that its allocation cut short into the failure of its task, if the task was cut short before and the
// attempt had as good as all the time that an allocation may have: another one would end the same way.
func (e *Engine) tooLong(a *attempt, r event.AttemptEnded) event.AttemptEnded {
	ran, most := e.now.Sub(a.Working), a.Of.Left.Most
	if most == 0 || ran < most/10*9 || a.Shuffles() || a.job.work.Requeues || a.node.unseen || !a.job.tasks[a.ID.Task].cut {
		return r
	}
	help := "allow more time (--max-time, a partition with a longer limit)"
	if a.Kind == job.BagTask {
		help += ", or let it save its state and ask for another attempt (--signal, --requeue-exit)"
	}
	return event.AttemptEnded{Attempt: a.ID, Outcome: event.Failed, Last: true, Reason: fmt.Sprintf("the end of its allocation cut it short again, after %s, and no allocation may last longer: %s",
		job.FormatDuration(ran.Round(time.Second)), help)}
}

// forgetCut handles that a task is over: how long it had run before no longer matters.
func (j *jobState) forgetCut(i int) {
	if !j.tasks[i].cut {
		return
	}
	j.tasks[i].cut = false
	t := &j.tasksAlike(i).Left.Times
	if t.Cuts--; t.Cuts == 0 {
		t.Longest = 0
	}
}

// The reasons for killing a shuffling reduce.
const (
	tooLate  = "the time left of its allocation is too short for it to sort and reduce"
	keepsOff = "it waits for maps, and its allocation is to be given back"
)

// whyKill returns why a shuffling reduce is to be killed, or empty: it cannot end in time, or it waits for maps that have not begun, in an
// allocation that is to be given back. No more maps start there, so its nodes would be idle until the last map has ended elsewhere, and that
// map may itself wait for these nodes. Maps that run will soon be over, so what was fetched of the others is not given up.
func (a *attempt) whyKill(now job.Time) string {
	switch maps := &a.job.counts[0]; {
	case !a.Shuffles():
	case !sched.InTime(now, a.wallEnd(), a.grantSpan()):
		return tooLate
	case maps.running < maps.left() && a.alloc != nil && a.alloc.Retired:
		return keepsOff
	}
	return ""
}

// grantSpan returns how much time must be left when the reduce gets a grant to sort.
func (a *attempt) grantSpan() time.Duration { return a.Of.Left.Span(a.job.tasks[a.ID.Task].cut) }

// dropInfeasible kills the shuffling reduces of the pool that cannot end where they are.
func (e *Engine) dropInfeasible(p *pool) {
	for _, n := range p.nodes {
		if n.Shuffles == 0 || n.state != up {
			continue
		}
		for _, a := range e.attemptsOn(n) {
			if why := a.whyKill(e.now); why != "" && a.KillReason == "" {
				e.killAttempt(a, why)
			}
		}
	}
}

// next yields the tasks by their needs of which one could start next: of a MapReduce job only the maps, as long as maps are ready.
func (j *jobState) next(yield func(*byNeeds) bool) {
	for _, t := range j.of {
		if t.waits && (!yield(t) || j.work.Kind == job.MapReduce) {
			return
		}
	}
}

// hasReady reports whether some task of the job is ready.
func (j *jobState) hasReady() bool {
	return slices.ContainsFunc(j.of, func(t *byNeeds) bool { return t.waits })
}

// review computes what the job, which has a pool, waits for, and updates allocations if
// that has changed. If no allocation ends, task times do not matter.
func (e *Engine) review(j *jobState) {
	startable, ends := j.active() && j.unfinished() > 0, !j.pool.shape.Endless()
	measured := startable && ends && j.work.Scout > 0 && j.counts[0].done >= j.work.Scout
	changed := measured != j.measured
	j.measured = measured
	changed = changed || ends && j.hasGrown()
	j.knew.left = min(j.knew.left, j.counts[0].left())
	for _, t := range j.of {
		waits, span := startable && t.waiting() > 0, time.Duration(0)
		if startable && ends {
			span = j.startSpan(t, t.Begin.Ready.CutOnly())
		}
		changed = changed || waits != t.waits || span != t.span
		t.waits, t.span = waits, span
	}
	if changed {
		e.touchAllocs()
	}
}

// longest returns the longest time that an attempt had run whose task was cut short and is not done; 0: there is none.
func (j *jobState) longest() (most time.Duration) {
	for _, t := range j.of {
		most = max(most, t.Left.Longest)
	}
	return most
}
