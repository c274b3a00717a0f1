package cluster

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// TestSweepIsAsByNode compares timelines of random queues in which all is known node by node
// with a count, second by second, of the nodes on which a worker fits beside all that is
// there.
func TestSweepIsAsByNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, v := anySnapshot(t)
		line, _ := s.Timeline(v)
		for sec := range 100 {
			at := s.At.Add(time.Duration(sec) * time.Second)
			if got, want := line.At(at), countFree(s, v, at); got != want {
				t.Fatalf("%d nodes are free after %d s, want %d", got, sec, want)
			}
		}
	})
}

// anySnapshot draws a few nodes and jobs on them that may take more than there is.
func anySnapshot(t *rapid.T) (*Snapshot, View) {
	nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
	size := job.Resources{CPUs: 8, Mem: 8}
	s := &Snapshot{At: 1000e9, Queue: &Queue{Partitions: []Partition{{Name: "main", Default: true, MaxTime: 70 * time.Second}}}}
	for i := range nodes {
		n := Node{Capacity: size, Free: size}
		n.Free.CPUs -= rapid.SampledFrom([]int{0, 0, 0, 4, 8}).Draw(t, "used")
		s.Nodes = append(s.Nodes, n)
		s.Queue.Partitions[0].Nodes = append(s.Queue.Partitions[0].Nodes, i)
	}
	where := rapid.SliceOfNDistinct(rapid.IntRange(0, nodes-1), 1, nodes, rapid.ID)
	seconds := func(from, to int, name string) job.Time {
		return s.At.Add(time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Second)
	}
	some := func(start job.Time) Queued {
		j := Queued{Partition: "main", Nodes: where.Draw(t, "where"), Start: start, Whole: rapid.IntRange(0, 4).Draw(t, "whole") == 0,
			PerNode: job.Resources{CPUs: rapid.IntRange(1, 8).Draw(t, "cpus"), Mem: int64(rapid.IntRange(0, 4).Draw(t, "mem"))},
			Limit:   time.Duration(rapid.IntRange(1, 60).Draw(t, "limit")) * time.Second}
		j.Count = len(j.Nodes)
		return j
	}
	for range rapid.IntRange(0, 4).Draw(t, "running") {
		s.Queue.Running = append(s.Queue.Running, some(seconds(-60, -1, "began")))
	}
	for range rapid.IntRange(0, 4).Draw(t, "planned") {
		s.Queue.Pending = append(s.Queue.Pending, some(seconds(-5, 60, "planned")))
	}
	for range rapid.IntRange(0, 2).Draw(t, "reservations") {
		r := Reservation{Nodes: where.Draw(t, "reserved"), Start: seconds(-30, 60, "from")}
		r.End = r.Start.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "for")) * time.Second)
		s.Queue.Reservations = append(s.Queue.Reservations, r)
	}
	v := View{PerNode: job.Resources{CPUs: rapid.IntRange(1, 8).Draw(t, "need"), Mem: 4}, Whole: rapid.Bool().Draw(t, "alone")}
	return s, v
}

// countFree counts by going through everything for every node.
func countFree(s *Snapshot, v View, at job.Time) (free int) {
	for i := range s.Nodes {
		if fitsAt(s, v, i, at) {
			free++
		}
	}
	return free
}

func fitsAt(s *Snapshot, v View, node int, at job.Time) bool {
	n := s.Nodes[node]
	now, then := n.Capacity, n.Capacity // what the running jobs leave, at the snapshot and at that time
	alone, users := true, 0
	var spread job.Time
	on := func(j Queued) bool { return slices.Contains(j.Nodes, node) }
	for _, j := range s.Queue.Running {
		if !on(j) {
			continue
		}
		end := j.Start.Add(j.Limit)
		if end <= s.At {
			end = s.At.Add(30 * time.Second)
		}
		if at < end {
			users++
		}
		if j.Whole {
			now = job.Resources{}
			alone = alone && at >= end
			continue
		}
		now = now.Minus(j.PerNode)
		if at < end {
			then = then.Minus(j.PerNode)
		}
		if len(j.Nodes) > 1 {
			spread = max(spread, end)
		}
	}
	end := spread
	if end == 0 {
		end = s.At.Add(s.Queue.Partitions[0].MaxTime)
	}
	if unseen := now.CPUs - n.Free.CPUs; unseen > 0 && at < end {
		then.CPUs -= unseen
		users++
	}
	for _, j := range s.Queue.Pending {
		start := max(j.Start, s.At)
		if !on(j) || at < start || at >= start.Add(j.Limit) {
			continue
		}
		users++
		alone = alone && !j.Whole
		if !j.Whole {
			then = then.Minus(j.PerNode)
		}
	}
	for _, r := range s.Queue.Reservations {
		if slices.Contains(r.Nodes, node) && r.Start <= at && at < r.End {
			return false
		}
	}
	return alone && v.PerNode.Fits(then) && (!v.Whole || users == 0)
}

// TestBackfillOfEqualJobs compares equal jobs that are placed together with such that are placed
// one by one.
func TestBackfillOfEqualJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := timeline.New(0, rapid.IntRange(0, 12).Draw(t, "free"))
		for range rapid.IntRange(0, 8).Draw(t, "jobs") {
			from := job.Time(rapid.IntRange(0, 50).Draw(t, "from"))
			line.Add(from, from+job.Time(rapid.IntRange(1, 30).Draw(t, "for")), -rapid.IntRange(1, 5).Draw(t, "nodes"))
		}
		w := waiting{after: job.Time(rapid.IntRange(0, 60).Draw(t, "after")), nodes: float64(rapid.IntRange(1, 14).Draw(t, "each")),
			length: time.Duration(rapid.IntRange(1, 20).Draw(t, "length")), copies: rapid.IntRange(1, 40).Draw(t, "copies")}
		if rapid.IntRange(0, 9).Draw(t, "unbounded") == 0 {
			w.length = timeline.Unbounded
		}
		alone := line.Clone()
		placed, want := w.backfill(line), 0
		for range w.copies {
			at, ok := alone.EarliestFit(w.after, int(w.nodes), w.length)
			if !ok {
				break
			}
			alone.Add(at, timeline.After(at, w.length), -int(w.nodes))
			want++
		}
		if placed != want || !slices.Equal(line.Steps(), alone.Steps()) {
			t.Fatalf("%d placed: %v; one by one %d: %v", placed, line.Steps(), want, alone.Steps())
		}
	})
}
