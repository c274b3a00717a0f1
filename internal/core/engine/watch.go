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
}

// progress handles reports of progress. For a reduce only the phases with a core count.
func (e *Engine) progress(in step.Progress) {
	for _, p := range in.Of {
		a := e.find(p.Attempt)
		if a == nil || a.node.id != in.Node || a.Shuffles() || a.job.work.Stragglers == job.StragglersOff {
			continue
		}
		if a.track == nil {
			a.track = &straggler.Track{}
		}
		a.track.Add(e.now.Sub(a.working), a.job.past[a.job.kind(a.ID.Task)].By(p))
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
			for kind := range j.past {
				if v := e.view(j, kind); v != nil {
					e.carryOut(j, kind, v, e.cfg.Rule.Assess(v))
					e.assessAt = e.now.Add(e.cfg.AssessEvery)
				}
			}
		}
	}
}

// view returns the View of the running tasks of one kind of a job; nil if none has reported progress.
func (e *Engine) view(j *jobState, kind int) *straggler.View {
	of, c := j.Begin[kind].Kind, &j.counts[kind]
	v := &straggler.View{Now: e.now, Interval: e.cfg.AssessEvery, Past: &j.past[kind], Left: c.total - c.done - c.failed,
		Duplicate: j.work.MayDuplicate(of), Abort: j.work.MayAbort(of)}
	j.Urgent[kind].Ready.DropDuplicates() // the rule may not repeat its last verdicts
	v.Ready = j.waiting(kind)
	reports := false
	for _, a := range j.sorted() {
		if j.kind(a.ID.Task) != kind || a.KillReason != "" || a.Shuffles() {
			continue
		}
		reports = reports || a.track != nil
		v.Running = append(v.Running, straggler.Running{Attempt: a.ID, Node: a.node.id, Began: a.working, Duplicate: a.late, Duplicates: j.duplicates(a), Track: a.track})
	}
	if !reports || !j.active() {
		return nil
	}
	e.freeSlots(j, kind, v)
	v.Allow(j.work.SpeculationShare(), j.Left[kind].Mean(), j.spent[kind])
	return v
}

// freeSlots sets where attempts could start.
func (e *Engine) freeSlots(j *jobState, kind int, v *straggler.View) {
	need := j.kindNeed(kind)
	v.Cores = float64(max(1, need.CPUs))
	for _, n := range j.pool.nodes {
		if n.state != up || !n.InTime(e.now, j.span(kind, false)) {
			continue
		}
		v.Slots += straggler.Fitting(n.Capacity, need.Vector())
		if k := straggler.Fitting(n.Free(), need.Vector()); k > 0 && !n.Health.Avoided(e.now) {
			v.FreeSlots = append(v.FreeSlots, straggler.FreeSlot{Node: n.id, Count: k})
		}
	}
}

// carryOut carries out the verdicts of the rule.
func (e *Engine) carryOut(j *jobState, kind int, v *straggler.View, verdicts []straggler.Verdict) {
	for rank := range verdicts {
		d := &verdicts[rank]
		a := j.find(d.Attempt)
		if a == nil || a.KillReason != "" {
			continue
		}
		a.verdict = d
		switch act := d.Act; {
		case act == straggler.Duplicate && v.Duplicate && j.granted(a.ID.Task) == nil:
			e.duplicate(a, kind, rank)
		case act == straggler.Abort && v.Abort, act == straggler.Duplicate && d.State == straggler.Hung && v.Abort:
			a.slow = true // if it has the grant to commit it gets no duplicate
			e.kill(a, "it is too slow: "+d.Why)
		}
	}
	for i := range v.Running {
		if t := v.Running[i].Track; t != nil {
			t.Shown()
		}
	}
	e.enqueue(j)
	if j.Urgent[kind].Ready.Count() > 0 {
		e.mark(j.pool)
	}
}

// duplicate makes the task of an attempt start beside it, unless the task has three attempts already.
func (e *Engine) duplicate(a *attempt, kind, rank int) {
	also := int32(0)
	for b := a.job.first(a.ID.Task); b != nil; b = b.duplicate {
		switch {
		case b == a:
		case also != 0:
			return
		default:
			also = int32(b.node.Index)
		}
	}
	a.job.Urgent[kind].Ready.AddUrgent(int32(a.ID.Task), int32(a.node.Index), also, int32(rank), true)
}
