package bound

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// TestBelowSchedules checks that no bound exceeds the mean turnaround of a schedule of tasks and
// rigid jobs on real cores, in any order of priority.
func TestBelowSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		speeds := rapid.SliceOfN(rapid.SampledFrom([]float64{1, 1, 0.5, 2}), 1, 4).Draw(t, "speeds")
		cores := rapid.IntRange(1, 3).Draw(t, "cores")
		m := NewMachine(len(speeds), cores, speeds)
		w := newWorld(speeds, cores)
		var jobs []Job
		tasks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(0, 20).Draw(t, "s")) * s
		}), 0, 6)
		for range rapid.IntRange(1, 5).Draw(t, "jobs") {
			submit := at(rapid.IntRange(0, 30).Draw(t, "submit"))
			if rapid.Bool().Draw(t, "rigid") {
				r := workload.Rigid{Submit: submit, Nodes: rapid.IntRange(1, len(speeds)).Draw(t, "nodes")}
				r.Run, r.Request = rapid.SampledFrom([]time.Duration{s, 9 * s}).Draw(t, "run"), 8*s
				jobs = append(jobs, m.Rigid(&r))
				w.rigid(t, r)
				continue
			}
			e := workload.Elastic{Submit: submit, Maps: tasks.Draw(t, "maps"), Reduces: tasks.Draw(t, "reduces")}
			if rapid.Bool().Draw(t, "shuffles") {
				for range e.Reduces {
					e.FirstShuffle = append(e.FirstShuffle, time.Duration(rapid.IntRange(0, 5).Draw(t, "first"))*s)
					e.Shuffle = append(e.Shuffle, time.Duration(rapid.IntRange(0, 5).Draw(t, "other"))*s)
				}
			}
			jobs = append(jobs, m.Elastic(&e))
			w.elastic(t, e)
		}
		got := w.mean()
		b := m.Of(jobs)
		if b.Best() > got+1e-6 {
			t.Fatalf("%+v, and a schedule has %v", b, got)
		}
		if b.Joint < b.Height-1e-9 {
			t.Fatalf("%+v: height alone is more than both", b)
		}
	})
}

// world is a list scheduler that assigns each piece to the core where it ends first, or to a random
// one. Each order of the pieces gives a schedule.
type world struct {
	speeds []float64
	cores  int
	free   [][]job.Time // by node and core: the instant from which it is free
	flows  []float64
}

func newWorld(speeds []float64, cores int) *world {
	w := &world{speeds: speeds, cores: cores, free: make([][]job.Time, len(speeds))}
	for i := range w.free {
		w.free[i] = make([]job.Time, cores)
	}
	return w
}

func (w *world) mean() float64 {
	sum := 0.0
	for _, f := range w.flows {
		sum += f
	}
	return sum / float64(len(w.flows))
}

func (w *world) done(submit, end job.Time) { w.flows = append(w.flows, end.Sub(submit).Seconds()) }

// rigid runs a rigid job on the nodes that become free first.
func (w *world) rigid(t *rapid.T, r workload.Rigid) {
	order := make([]int, len(w.free))
	for i := range order {
		order[i] = i
	}
	if rapid.Bool().Draw(t, "soonest") {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(slices.Max(w.free[a]), slices.Max(w.free[b])) })
	}
	start := r.Submit
	for _, i := range order[:r.Nodes] {
		start = max(start, slices.Max(w.free[i]))
	}
	end := start.Add(min(r.Run, r.Request))
	for _, i := range order[:r.Nodes] {
		for c := range w.free[i] {
			w.free[i][c] = end
		}
	}
	w.done(r.Submit, end)
}

func (w *world) elastic(t *rapid.T, e workload.Elastic) {
	mapped := e.Submit
	for _, d := range e.Maps {
		mapped = max(mapped, w.task(t, e.Submit, d))
	}
	end := mapped
	for i, d := range e.Reduces {
		shuffle := time.Duration(0)
		if e.Shuffle != nil {
			shuffle = rapid.SampledFrom([]time.Duration{e.Shuffle[i], e.FirstShuffle[i]}).Draw(t, "shuffle")
		}
		end = max(end, w.task(t, mapped.Add(shuffle), d))
	}
	w.done(e.Submit, end)
}

// task runs a task on the core where it ends first, or on a random core, and returns its end.
func (w *world) task(t *rapid.T, ready job.Time, d time.Duration) job.Time {
	end, node, core := job.Time(1)<<62, 0, 0
	only := -1
	if rapid.IntRange(0, 3).Draw(t, "any") == 0 {
		only = rapid.IntRange(0, len(w.free)-1).Draw(t, "node")
	}
	for n := range w.free {
		if only >= 0 && n != only {
			continue
		}
		for c, free := range w.free[n] {
			// The simulator rounds to the millisecond as well.
			takes := time.Duration(float64(d)/w.speeds[n] + 0.5e6).Truncate(time.Millisecond)
			if at := max(ready, free).Add(takes); at < end {
				end, node, core = at, n, c
			}
		}
	}
	w.free[node][core] = end
	return end
}
