package engine

import (
	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/internal/core/step"
)

// The progress that attempts report is not part of the state of the records: after an interruption they report it
// again. Every Config.AssessEvery a rule (package straggler) assesses the attempts with progress, and the engine
// carries out its verdicts: their tasks start again elsewhere as urgent ones (sched.Ready.AddUrgent), beside them or
// instead of them.

// watched is the progress of a running attempt and its last verdict. It is not part of the state of the records.
type watched struct {
	track   *straggler.Track   // nil: no progress was reported
	verdict *straggler.Verdict // of the last assessment; nil: none yet
	outlook outlook            // what the verdicts expected
}

// progress handles reports of progress. For a reduce only the phases with a core count.
func (e *Engine) progress(in step.Progress) {
	for _, p := range in.Of {
		a := e.runningAttempt(p.Attempt)
		if a == nil || a.node.id != in.Node {
			continue
		}
		if a.job.pool.Idle(&a.node.Node, &a.Running, p.Idle); a.job.pool.Freed() {
			e.markPool(a.job.pool)
		}
		if p.Source == job.ProgressNone || a.Shuffles() || a.job.work.Stragglers == job.StragglersOff {
			continue
		}
		if a.track == nil {
			a.track = &straggler.Track{}
		}
		age := e.now.Sub(a.Working)
		if p.Age > 0 { // reports are late by chance, and each attempt's by another time
			age = min(age, p.Age)
		}
		a.track.Add(age, a.job.tasksAlike(a.ID.Task).past.By(p))
		if e.assessAt == 0 {
			e.assessAt = e.now.Add(e.cfg.AssessEvery)
		}
	}
}

// assess lets the rule assess the running attempts of all jobs.
func (e *Engine) assess() {
	e.assessAt = 0
	for _, p := range e.pools {
		for _, j := range p.active {
			for _, t := range j.of {
				dropped := t.Urgent.Ready.DropDuplicates() // the rule may not repeat its last verdicts
				if v := e.view(j, t); v != nil {
					e.carryOut(j, t, v, e.cfg.Rule.Assess(v))
					e.assessAt = e.now.Add(e.cfg.AssessEvery)
				}
				if dropped { // also if nothing is assessed: no node stays reserved for them
					e.enqueue(j)
					e.markPool(p)
				}
			}
		}
	}
}

// view returns the View of the running ones of these tasks of the job; nil if none has reported progress.
func (e *Engine) view(j *jobState, t *byNeeds) *straggler.View {
	of := t.Kind()
	v := &straggler.View{Now: e.now, Interval: e.cfg.AssessEvery, Past: &t.past, Left: t.left(),
		Duplicate: j.work.MayDuplicate(of) && t.twice(), Abort: j.work.MayAbort(of) && !t.Begin.Several()}
	v.Ready = t.waiting()
	reports := false
	for _, a := range j.sorted() {
		if j.tasksAlike(a.ID.Task) != t || a.KillReason != "" || a.Shuffles() || a.behind != nil || a.alloc != nil && a.alloc.paused {
			continue
		}
		reports = reports || a.track != nil
		v.Running = append(v.Running, straggler.Running{Attempt: a.ID, Node: a.node.id, Began: a.Working, Duplicate: a.late, Duplicates: j.duplicates(a), Track: a.track})
	}
	if !reports || !j.active() {
		return nil
	}
	e.freeSlots(j, t, v)
	v.Allow(j.work.SpeculationShare(), t.Left.Mean(), t.spent)
	return v
}

// freeSlots sets where attempts could start.
func (e *Engine) freeSlots(j *jobState, t *byNeeds, v *straggler.View) {
	need := t.Need
	v.Cores = float64(max(1, need.CPUs))
	for _, n := range j.pool.nodes {
		if n.state != up || !n.InTime(e.now, j.startSpan(t, false)) {
			continue
		}
		v.Slots += straggler.Fitting(n.Capacity, need.Vector())
		if k := straggler.Fitting(n.Free(), need.Vector()); k > 0 && !n.Health.Avoided(e.now) {
			v.FreeSlots = append(v.FreeSlots, straggler.FreeSlot{Node: n.id, Count: k})
		}
	}
}

// carryOut carries out the verdicts of the rule.
func (e *Engine) carryOut(j *jobState, t *byNeeds, v *straggler.View, verdicts []straggler.Verdict) {
	for rank := range verdicts {
		d := &verdicts[rank]
		a := j.runningAttempt(d.Attempt)
		if a == nil || a.KillReason != "" {
			continue
		}
		a.verdict = d
		if d.End != 0 {
			a.outlook.add(expectation{e.now.Sub(a.Working), d.End.Sub(a.Working)})
		}
		switch act := d.Act; {
		case act == straggler.Duplicate && v.Duplicate && j.granted(a.ID.Task) == nil:
			e.duplicate(a, t, rank)
		case act == straggler.Abort && v.Abort, act == straggler.Duplicate && d.State == straggler.Hung && v.Abort:
			a.slow = true // if it has the grant to commit it gets no duplicate
			e.killAttempt(a, "it is too slow: "+d.Why)
		}
	}
	e.enqueue(j)
	if t.Urgent.Ready.Count() > 0 {
		e.markPool(j.pool)
	}
}

// duplicate makes the task of an attempt start beside it, unless the task has three attempts already.
func (e *Engine) duplicate(a *attempt, t *byNeeds, rank int) {
	also := int32(0)
	for b := a.job.firstAttempt(a.ID.Task); b != nil; b = b.duplicate {
		switch {
		case b == a:
		case also != 0:
			return
		default:
			also = int32(b.node.Index)
		}
	}
	t.Urgent.Ready.AddUrgent(int32(a.ID.Task), int32(a.node.Index), also, int32(rank), true)
}
