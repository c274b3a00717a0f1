package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// early is a cluster on which jobs end before their limits: each after a part of it, drawn evenly. Starts are decided
// by conservative backfilling on the limits, again whenever a job ends.
type early struct {
	now     float64 // seconds from the beginning
	busy    []bool  // of each node
	running []earlyJob
	pending []earlyJob // in the order of their priority
}

type earlyJob struct {
	id    int // of ours: from 1 on
	count int
	limit time.Duration
	real  time.Duration
	nodes []int
	start float64
}

// newEarly returns the cluster of a world.
func newEarly(w *world, seed uint64) *early {
	rng := rand.New(rand.NewPCG(seed, 9))
	e := &early{busy: make([]bool, len(w.snap.Nodes))}
	part := func(limit time.Duration) time.Duration {
		return time.Duration(float64(limit) * (0.05 + 0.95*rng.Float64()))
	}
	for _, j := range w.snap.Queue.Running {
		e.running = append(e.running, earlyJob{count: j.Count, limit: j.Limit, real: part(j.Limit), nodes: j.Nodes})
		for _, n := range j.Nodes {
			e.busy[n] = true
		}
	}
	for _, j := range w.snap.Queue.Pending {
		e.pending = append(e.pending, earlyJob{count: j.Count, limit: j.Limit, real: part(j.Limit)})
	}
	return e
}

// place starts all jobs that can start now.
func (e *early) place() {
	at := begin.Add(time.Duration(e.now * float64(time.Second)))
	line := timeline.New(at, len(e.busy))
	for _, j := range e.running {
		line.Add(at, begin.Add(time.Duration(j.start*float64(time.Second))+j.limit), -j.count)
	}
	var waiting []earlyJob
	for _, j := range e.pending {
		start, _ := line.EarliestFit(at, j.count, j.limit)
		line.Add(start, start.Add(j.limit), -j.count)
		if start != at {
			waiting = append(waiting, j)
			continue
		}
		for n := 0; len(j.nodes) < j.count; n++ {
			if !e.busy[n] {
				e.busy[n] = true
				j.nodes = append(j.nodes, n)
			}
		}
		j.start = e.now
		e.running = append(e.running, j)
	}
	e.pending = waiting
}

// advance lets time pass until the next end of a job, or until a time if that is earlier.
func (e *early) advance(until float64) {
	next := until
	for _, j := range e.running {
		next = min(next, j.start+j.real.Seconds())
	}
	e.now = next
	e.running = slices.DeleteFunc(e.running, func(j earlyJob) bool {
		if j.start+j.real.Seconds() > next {
			return false
		}
		for _, n := range j.nodes {
			e.busy[n] = false
		}
		return true
	})
	e.place()
}

// snapshot returns the visible state.
func (e *early) snapshot(of cluster.Snapshot) cluster.Snapshot {
	q := *of.Queue
	q.Running, q.Pending, q.Depth = nil, nil, math.MaxInt // place plans all jobs
	of.Queue, of.At = &q, begin.Add(time.Duration(e.now*float64(time.Second)))
	of.Nodes = slices.Clone(of.Nodes)
	for n, busy := range e.busy {
		if of.Nodes[n].Free = of.Nodes[n].Capacity; busy {
			of.Nodes[n].Free = job.Resources{}
		}
	}
	for _, j := range e.running {
		q.Running = append(q.Running, cluster.Queued{Partition: "main", Nodes: j.nodes, Count: j.count, PerNode: of.Nodes[0].Capacity,
			Start: begin.Add(time.Duration(j.start * float64(time.Second))), Limit: j.limit})
	}
	for _, j := range e.pending {
		q.Pending = append(q.Pending, cluster.Queued{Partition: "main", Count: j.count, PerNode: of.Nodes[0].Capacity, Limit: j.limit})
	}
	return of
}

// runEarly returns the turnaround of the bag where jobs end early. Requests are in the queue from the moment when
// they are made; when none is left the rest is planned again.
func (w *world) runEarly(ask asker, seed uint64) float64 {
	e := newEarly(w, seed)
	e.place()
	left := w.tasks
	for range 50 {
		seen := *w
		seen.snap = e.snapshot(w.snap)
		seen.q.Snap = seen.snap
		asked, _, expect := ask(&seen, e.now, len(left), nil, nil)
		there := make([]job.Live, len(asked))
		for i, r := range asked {
			e.pending = append(e.pending, earlyJob{id: i + 1, count: r.Nodes, limit: r.Time, real: r.Time})
			there[i] = job.Live{Request: r}
		}
		e.place()
		for slices.ContainsFunc(e.pending, func(j earlyJob) bool { return j.id > 0 }) {
			e.note(there)
			e.advance(math.Inf(1))
		}
		e.note(there)
		done := play(left, 0, there, expect)
		if done.Left == 0 {
			return done.Finish[0]
		}
		left = left[len(left)-int(done.Left):]
		for slices.ContainsFunc(e.running, func(j earlyJob) bool { return j.id > 0 }) {
			e.advance(math.Inf(1))
		}
	}
	return math.Inf(1)
}

// note notes when ours began.
func (e *early) note(there []job.Live) {
	for _, j := range e.running {
		if j.id > 0 {
			l := &there[j.id-1]
			l.Start = begin.Add(time.Duration(j.start * float64(time.Second)))
			l.Ends = l.Start.Add(l.Request.Time)
		}
	}
}
