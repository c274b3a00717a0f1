package engine

import (
	"fmt"
	"math/bits"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/predict/memory"
)

// learnMemory learns from a task that is done what it used.
func (j *jobState) learnMemory(a *attempt, stats []job.PhaseStat) {
	g := &j.growth
	if !g.on || a.Of.Begin.Several() { // what it used is for all ranks together
		return
	}
	t := j.tasksAlike(a.ID.Task)
	peak, took := job.Peak(stats)
	for what, used := range [...]int64{growMem: peak, growTime: int64(took)} {
		if used == 0 {
			used = a.had[what] // it was not measured
		}
		if t.least[what] == 0 || used < t.least[what] {
			t.least[what] = used
		}
	}
	g.tasks++
	if every := 1 << max(0, bits.Len(uint(g.tasks/learnAll))); peak > 0 && g.tasks%every == 0 {
		g.history.Learn(memory.Sample{Size: t.needs.Size, Peak: peak, Time: took})
		g.samples++
	}
}

// reviewNeeds gives waiting tasks the memory that the history says, each time that twice as many tasks have been learned from.
func (e *Engine) reviewNeeds(j *jobState) {
	g := &j.growth
	if !g.on || g.samples == 0 || g.samples < 2*g.reviewed || j.pool == nil || !j.active() {
		return
	}
	for k, t := range j.of {
		if t.raised || t.waiting()+t.blocked == 0 {
			continue
		}
		limit, known := g.history.Limit(t.needs.Size)
		if !known {
			return
		}
		if to := j.choose(t.needs, limit); to != t.needs.Mem {
			e.emit(event.NeedsChanged{Job: j.ID, Index: uint16(k), Task: event.AllTasks, Mem: to,
				Reason: fmt.Sprintf("by what earlier tasks used, those that wait get %s instead of %s", job.FormatSize(to), job.FormatSize(t.needs.Mem))})
		}
	}
	g.reviewed = g.samples
}

// choose returns the memory for tasks with these needs, to which the history gives so much at first.
func (j *jobState) choose(n job.Needs, limit int64) int64 {
	to := min(limit, j.growthLimit(n, growMem))
	switch difference := to - n.Mem; {
	case !n.AutoMem && difference <= 0, max(difference, -difference) <= n.Mem/clearly:
		return n.Mem
	}
	return to
}
