package cluster

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// TestMovingIsTheTimeline: where all jobs run to their limits and at most one job waits, the simulated queue starts a
// request when the timeline has its nodes free first, beside running jobs, reserved times, unlisted jobs and nodes that
// are down.
func TestMovingIsTheTimeline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyWhole(t)
		v := View{PerNode: job.Resources{CPUs: 8}}
		line, _ := s.Timeline(v)
		q, why := s.Moving(v)
		if q == nil {
			t.Fatalf("no queue: %s", why)
		}
		c := starts.Follow(q, toLimits{q})
		for nodes := 1; nodes <= q.Nodes; nodes++ {
			limit := time.Duration(rapid.IntRange(1, 80).Draw(t, "for")) * time.Second
			want, ok := line.EarliestFit(s.At, nodes, limit)
			if !ok {
				want = timeline.Never
			}
			if got := c.Start(nodes, limit); got != want {
				t.Fatalf("%d nodes for %v start at %v, want %v; %v; %+v", nodes, limit, got.Sub(s.At), want.Sub(s.At), line.Steps(), q)
			}
		}
	})
}

// toLimits is the Future in which every job runs to its limit and nobody else comes.
type toLimits struct{ *starts.Queue }

func (l toLimits) Running(i int) time.Duration { return l.Queue.Running[i].Limit }
func (l toLimits) Waiting(i int) time.Duration { return l.Queue.Waiting[i].Limit }
func (l toLimits) Arrival(int) (at job.Time, j starts.Job, run time.Duration, ok bool) {
	return 0, starts.Job{}, 0, false
}

// anyWhole draws a queue of jobs that have whole nodes, each node for one job or one reservation at a time.
func anyWhole(t *rapid.T) *Snapshot {
	size := job.Resources{CPUs: 8}
	s := &Snapshot{At: 1000e9, Queue: &Queue{Partitions: []Partition{{Name: "main", Default: true, MaxTime: 70 * time.Second}}}}
	instant := func(from, to int) job.Time {
		return s.At.Add(time.Duration(rapid.IntRange(from, to).Draw(t, "at")) * time.Second)
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		n, one := Node{Capacity: size, Free: size}, []int{i}
		s.Queue.Partitions[0].Nodes = append(s.Queue.Partitions[0].Nodes, i)
		until := s.At
		switch rapid.IntRange(0, 5).Draw(t, "node") {
		case 0:
			n.Down = "drained"
		case 1:
			n.Free.CPUs = 3 // an unlisted job, up to the partition's limit
			until = s.At.Add(70 * time.Second)
		case 2, 3:
			n.Free.CPUs = 0
			until = instant(1, 40)
			s.Queue.Running = append(s.Queue.Running, Queued{Partition: "main", Nodes: one, Count: 1, PerNode: size, Start: s.At - 5e9, Limit: until.Sub(s.At) + 5*time.Second})
		}
		if rapid.IntRange(0, 2).Draw(t, "reserved") == 0 {
			r := Reservation{Nodes: one, Start: until.Add(time.Duration(rapid.IntRange(-3, 20).Draw(t, "after")) * time.Second)}
			if r.Start < until && until > s.At {
				r.Start = until
			}
			r.End = max(r.Start, s.At).Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "long")) * time.Second)
			s.Queue.Reservations = append(s.Queue.Reservations, r)
		}
		s.Nodes = append(s.Nodes, n)
	}
	if rapid.Bool().Draw(t, "waits") {
		s.Queue.Pending = []Queued{{Partition: "main", Count: rapid.IntRange(1, 8).Draw(t, "count"), PerNode: size, Limit: instant(1, 60).Sub(s.At)}}
	}
	return s
}

// TestMovingSaysWhyNot: where numbers of whole nodes do not describe a queue there is none, and the reason.
func TestMovingSaysWhyNot(t *testing.T) {
	size, half := job.Resources{CPUs: 8}, job.Resources{CPUs: 4}
	base := func() *Snapshot {
		s := &Snapshot{At: 1000e9, Queue: &Queue{Partitions: []Partition{{Name: "main", Default: true, Nodes: []int{0, 1}}, {Name: "all", Nodes: []int{0, 1, 2}}}}}
		for range 3 {
			s.Nodes = append(s.Nodes, Node{Capacity: size, Free: size})
		}
		return s
	}
	for _, c := range []struct {
		name, why string
		change    func(*Snapshot, *View)
	}{
		{"as it is", "", func(*Snapshot, *View) {}},
		{"a reservation of the user's own", "reservation", func(_ *Snapshot, v *View) { v.Reservation = "r" }},
		{"a running job that leaves room", "share", func(s *Snapshot, _ *View) {
			s.Queue.Running = []Queued{{Partition: "main", Nodes: []int{0}, Count: 1, PerNode: half, Start: s.At, Limit: time.Hour}}
		}},
		{"a pending job that leaves room", "share", func(s *Snapshot, _ *View) {
			s.Queue.Pending = []Queued{{Partition: "main", Count: 1, PerNode: half, Limit: time.Hour}}
		}},
		{"a pending job that leaves none, as the worker is large", "", func(s *Snapshot, v *View) {
			s.Queue.Pending, v.PerNode = []Queued{{Partition: "main", Count: 1, PerNode: half, Limit: time.Hour}}, size
		}},
		{"a pending job of a partition with more nodes", "other partitions", func(s *Snapshot, _ *View) {
			s.Queue.Pending = []Queued{{Partition: "all", Count: 1, PerNode: size, Limit: time.Hour}}
		}},
		{"it is held", "", func(s *Snapshot, _ *View) {
			s.Queue.Pending = []Queued{{Partition: "all", Count: 1, PerNode: size, Limit: time.Hour, Held: "by its user"}}
		}},
		{"an array beyond all bounds", "wait", func(s *Snapshot, _ *View) {
			s.Queue.Pending = []Queued{{Partition: "main", Count: 1, PerNode: size, Limit: time.Hour, Repeat: 1_000_000}}
		}},
	} {
		s, v := base(), View{PerNode: half}
		c.change(s, &v)
		if q, why := s.Moving(v); (q == nil) != (c.why != "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %v, %q, want %q", c.name, q, why, c.why)
		}
	}
}
