package physics

import (
	"container/heap"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// Shortcut runs a job by list scheduling on an allocation that has begun, and reports whether it did. It does so only if
// the result equals that of the engine: the job has its single allocation for itself, nothing fails, and every task starts and ends well
// before the end of the wall time. Jobs with more reduces than slots are excluded, because the engine lets further reduces shuffle ahead,
// which list scheduling does not model.
func Shortcut(a sim.Alone) (finish job.Time, ok bool) {
	p := a.Plan
	if a.Config.Cluster.Speeds != nil || a.Config.Faults != (sim.Faults{}) || a.Job.Further != nil || p.Scout > 0 || len(p.More) > 0 {
		return 0, false
	}
	f := fastRun{job: a.Job, slots: a.Slots, expect: p.TaskTime, expectReduce: p.ReduceTime}
	if a.Spec.Kind == job.MapReduce {
		f.slowStart = sched.SlowStart(len(a.Job.Maps), a.Spec.MapReduce.SlowStart)
	}
	return f.run(a.Begins, a.Ends)
}

// fastRun is a job on slots of speed 1 that are all available from the start.
type fastRun struct {
	job                  *workload.Elastic
	slots                int
	slowStart            int           // number of maps that end before reduces begin to shuffle
	expect, expectReduce time.Duration // planned durations of a task and a reduce; 0: unknown
}

// run returns when the job ends. It returns false if the engine's result would differ.
func (f fastRun) run(from, ends job.Time) (finish job.Time, ok bool) {
	if len(f.job.Maps) == 0 || len(f.job.Reduces) > f.slots {
		return 0, false
	}
	begin, done, early, ok := f.maps()
	if !ok || !sched.InTime(from.Add(begin), ends, atMost(f.job.Maps, f.expect)) {
		return 0, false
	}
	last := from.Add(done)
	finish = last
	if len(f.job.Reduces) > 0 {
		var sorts job.Time // when the last shuffle has ended
		if sorts, finish = f.reduces(last, early); !sched.InTime(sorts, ends, atMost(f.job.Reduces, f.expectReduce)) {
			return 0, false
		}
	}
	return finish, finish <= ends
}

// maps returns when the last map (or task of a bag) begins and when it ends, relative to the start,
// and how many maps ended before it. It computes in whole milliseconds, so that no sum is rounded,
// and returns false if a duration is not a multiple of 1 ms.
func (f fastRun) maps() (begin, done time.Duration, early int, ok bool) {
	ms := make([]float64, len(f.job.Maps))
	for i, d := range f.job.Maps {
		if d%time.Millisecond != 0 {
			return 0, 0, 0, false
		}
		ms[i] = float64(d / time.Millisecond)
	}
	last, ends := listed(ms, f.slots)
	end := slices.Max(ends)
	for _, e := range ends {
		if e < end {
			early++
		}
	}
	return time.Duration(last) * time.Millisecond, time.Duration(end) * time.Millisecond, early, true
}

// listed places each task on the slot that is free first, and returns when the last of them begins and when each ends.
func listed(durations []float64, slots int) (begin float64, ends []float64) {
	free := make(slotHeap, slots)
	for _, d := range durations {
		begin = free[0]
		free[0] += d
		ends = append(ends, free[0])
		heap.Fix(&free, 0)
	}
	return begin, ends
}

// slotHeap are the times at which slots are free, the earliest first.
type slotHeap []float64

func (h slotHeap) Len() int           { return len(h) }
func (h slotHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h slotHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *slotHeap) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *slotHeap) Pop() any          { return nil } // no slot goes

// reduces returns when the last shuffle and the last reduce of a single wave end. last is the end of
// the last map, and early the number of maps that ended before it.
func (f fastRun) reduces(last job.Time, early int) (shuffled, done job.Time) {
	shuffles := f.job.FirstShuffle
	if early < f.slowStart { // no reduce began before the last map had ended
		shuffles = f.job.Shuffle
	}
	for i, d := range f.job.Reduces {
		at := last
		if shuffles != nil {
			at = at.Add(shuffles[i])
		}
		shuffled, done = max(shuffled, at), max(done, at.Add(d))
	}
	return shuffled, done
}

// atMost returns an upper bound of the time that the engine reserves before the end of an allocation
// for a task. The engine uses the planned duration, or the longest measured one within the accuracy
// of its sketch.
func atMost(ds []time.Duration, expect time.Duration) time.Duration {
	longest := time.Duration(0)
	for _, d := range ds {
		longest = max(longest, d)
	}
	return sched.Span(max(expect, longest+longest/32))
}
