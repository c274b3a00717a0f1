package batch

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// System is a batch system. Times passed to its methods must not decrease. At one instant ends come
// before arrivals, and Start comes after both. Invalid arguments (an unknown job, more nodes than
// exist) cause a panic, because they are errors of the simulator.
//
// A job runs at most until its limit: the simulator ends it then. If no other event happens, the
// simulator calls Start at Next.
type System struct {
	policy scheduler
	nodes  int
	free   int // nodes without a job
	jobs   []tracked
	queue  []request          // waiting jobs, in the order of arrival
	active []ID               // jobs that have started, in this order, of which some may have ended since Running
	line   *timeline.Timeline // free nodes under what the policy has planned
}

// tracked is a job of a system, by ID; Start is set for running jobs.
type tracked struct {
	Entry
	state state
}

// end returns when a running job reaches its limit, or reached it.
func (t *tracked) end() job.Time { return timeline.After(t.Start, t.Limit) }

type state uint8

const (
	unknown state = iota
	waiting
	running
	over
)

// New returns a batch system with the given number of nodes, all free.
func New(nodes int, p Policy) *System {
	s := &System{nodes: nodes, free: nodes, line: timeline.New(math.MinInt64, nodes)}
	switch p {
	case FCFS, EASY, EASYSJBF:
		s.policy = &easy{System: s, policy: p, idle: nodes}
	case CBF:
		s.policy = &cbf{System: s, first: timeline.Never}
	default:
		panic(fmt.Sprintf("batch: there is no policy %q", p))
	}
	return s
}

// Submit puts a job at the end of the queue. The job must fit the cluster and have a limit.
func (s *System) Submit(now job.Time, id ID, nodes int, limit time.Duration) {
	for int(id) >= len(s.jobs) {
		s.jobs = append(s.jobs, tracked{})
	}
	s.check(id, unknown)
	if nodes < 1 || nodes > s.nodes || limit < 1 {
		panic(fmt.Sprintf("batch: job %d asks for %d of %d nodes for %v", id, nodes, s.nodes, limit))
	}
	s.jobs[id] = tracked{Entry{ID: id, Nodes: nodes, Limit: limit, Submit: now, Start: timeline.Never}, waiting}
	s.queue = append(s.queue, request{timeline.Never, limit, int32(nodes), id})
	s.line.Advance(now)
	s.policy.submit(now, &s.queue[len(s.queue)-1])
}

// Cancel removes a waiting job from the queue.
func (s *System) Cancel(now job.Time, id ID) {
	s.check(id, waiting)
	s.jobs[id].state = over
	place := slices.IndexFunc(s.queue, func(w request) bool { return w.id == id })
	w := s.queue[place]
	s.queue = slices.Delete(s.queue, place, place+1)
	s.line.Advance(now)
	s.policy.cancel(now, w, place)
}

// End ends a running job, whether it ended by itself or was killed at its limit.
func (s *System) End(now job.Time, id ID) {
	s.check(id, running)
	s.jobs[id].state = over
	s.free += s.jobs[id].Nodes
	s.line.Advance(now)
	s.policy.end(now, id)
}

// Resize adds more nodes to the cluster, or removes nodes if more is negative. Jobs on removed nodes
// must have been ended before, so that enough nodes are free. Reservations that no longer fit are
// made again, in the order of arrival.
func (s *System) Resize(now job.Time, more int) {
	s.nodes += more
	s.free += more
	if s.free < 0 {
		panic(fmt.Sprintf("batch: %d nodes go and %d are free", -more, s.free-more))
	}
	s.line.Advance(now)
	s.policy.resize(now, more)
}

// Start appends the jobs that start now to ids.
func (s *System) Start(now job.Time, ids []ID) []ID {
	first := len(ids)
	s.line.Advance(now)
	ids = s.policy.start(now, ids)
	for _, id := range ids[first:] {
		s.check(id, waiting)
		e := &s.jobs[id]
		e.Start, e.state = now, running
		s.active = append(s.active, id)
		s.free -= e.Nodes
	}
	if s.free < 0 {
		panic(fmt.Sprintf("batch: %d nodes are used twice at %d", -s.free, now))
	}
	return ids
}

// Next returns the next instant at which a job may start without any other event, or Never.
func (s *System) Next() job.Time { return s.policy.next() }

// Nodes and Free return the number of nodes of the cluster, and of free ones.
func (s *System) Nodes() int { return s.nodes }
func (s *System) Free() int  { return s.free }

// Timeline returns the free nodes from now on under the present reservations: those of all jobs
// under CBF, of the first waiting job under EASY, of none under FCFS. It belongs to the system;
// Clone it to keep or change it.
func (s *System) Timeline(now job.Time) *timeline.Timeline {
	s.line.Advance(now)
	return s.policy.timeline(now)
}

// Running yields the running jobs in the order of their start.
func (s *System) Running() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		s.active = slices.DeleteFunc(s.active, func(id ID) bool { return s.jobs[id].state != running })
		for _, id := range s.active {
			if !yield(s.jobs[id].Entry) {
				return
			}
		}
	}
}

// runningTimeline returns the free nodes from now on if only the running jobs use nodes, up to their limits.
func (s *System) runningTimeline(now job.Time) *timeline.Timeline {
	t := timeline.New(now, s.nodes)
	for e := range s.Running() {
		t.Add(now, timeline.After(e.Start, e.Limit), -e.Nodes)
	}
	return t
}

// Waiting yields the waiting jobs in the order of arrival, with their reservations.
func (s *System) Waiting() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for place, w := range s.queue {
			e := s.jobs[w.id].Entry
			e.Start = s.policy.planned(place)
			if !yield(e) {
				return
			}
		}
	}
}

func (s *System) check(id ID, want state) {
	if s.jobs[id].state != want {
		panic(fmt.Sprintf("batch: job %d is not there", id))
	}
}
