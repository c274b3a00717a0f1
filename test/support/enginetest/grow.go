package enginetest

import (
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// nodeMem is the memory of the largest node of the world.
const nodeMem = 12

// grows lets the memory and the time of a bag's tasks grow.
func (w *World) grows(work *job.Work) {
	if work.Need.Mem == 0 || w.choose(3) == 0 {
		return
	}
	work.NodeMem, work.MaxMem = nodeMem, work.Need.Mem+int64(w.choose(10))
	if work.AutoMem = w.choose(3) == 0; work.AutoMem {
		work.MaxMem = 0
	}
	if w.choose(2) == 0 {
		work.TimeLimit, work.MaxTimeLimit = time.Second, time.Duration(1+w.choose(5))*time.Second
	}
	for range w.choose(6) {
		work.Memory = append(work.Memory, job.MemorySample{Size: int64(w.choose(2)), Peak: int64(1 + w.choose(6)), Time: time.Second})
	}
}

// room returns the most memory that tasks with these needs may get.
func room(n job.Needs) int64 {
	node := int64(nodeMem / together(n))
	if n.AutoMem {
		return max(n.Mem, node)
	}
	return max(n.Mem, min(n.MaxMem, node))
}

// runOut chooses what an attempt runs out of.
func (k *worker) runOut() event.Lack {
	return []event.Lack{event.LackMemory, event.LackMemory, event.LackNodeMemory, event.LackTime}[k.w.choose(4)]
}

// used returns the phases of an attempt that is done, with the memory that it used. Where allocations end the ledger measures how long tasks take,
// and so the worker does not say it.
func (k *worker) used(r *run) []job.PhaseStat {
	if r.Mem == 0 || k.w.Ledger.batch.elastic[k.alloc] {
		return nil
	}
	return []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(1 + k.w.choose(3)), PeakMemory: 1 + int64(k.w.choose(int(r.Mem)))}}
}

// noteRanOut notes how much memory an attempt had whose task is to start again with more.
func (l *Ledger) noteRanOut(r event.AttemptEnded) {
	k := taskID{r.Attempt.Job, r.Attempt.Task}
	if r.Outcome == event.Outgrown && r.Lack.OfMemory() {
		l.ranOut[k] = max(l.ranOut[k], l.live[r.Attempt].mem)
	}
}

// checkMem checks that a task never starts again with memory of which it has run out, or with more than any node has.
func (l *Ledger) checkMem(r event.AttemptStarted) {
	k := taskID{r.Attempt.Job, r.Attempt.Task}
	if had, ran := l.ranOut[k]; ran && r.Mem <= had {
		l.fail("%v is started with %d, of which its task has run out", r.Attempt, r.Mem)
	}
	w := l.works[k.job]
	if n := w.NeedsAt(int(l.needs[k])); w.Kind == job.Bag && r.Mem > room(n) {
		l.fail("%v is started with %d, and may have at most %d", r.Attempt, r.Mem, room(n))
	}
}
