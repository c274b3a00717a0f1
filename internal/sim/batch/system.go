package batch

import (
	"fmt"
	"iter"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
)

// System is a batch system. Its methods are called with times that do not decrease; at one
// instant ends come before arrivals, and Start after all of them. What cannot be (an
// unknown job, more nodes than there are) panics: it is the simulator's fault.
type System struct {
	policy scheduler
	nodes  int
	free   int
	jobs   []Entry // by ID
	states []state
}

type state uint8

const (
	unknown state = iota
	waiting
	running
	over
)

// New returns a batch system of so many nodes, all free.
func New(nodes int, p Policy) *System {
	panic("not yet")
}

// Submit puts a job at the end of the queue. It fits the cluster and has a limit.
func (s *System) Submit(now job.Time, id ID, nodes int, limit time.Duration) {}

// Cancel takes a waiting job out of the queue.
func (s *System) Cancel(now job.Time, id ID) {}

// End takes in that a running job is over: by itself, or killed at its limit.
func (s *System) End(now job.Time, id ID) {}

// Resize takes in that the cluster has so many more nodes, or fewer, from now on. The jobs
// that ran on nodes that went have been ended before; so there are free nodes to go.
// Reservations that cannot be kept are made anew, in the order of arrival.
func (s *System) Resize(now job.Time, more int) {}

// Start appends to ids the jobs that start now.
func (s *System) Start(now job.Time, ids []ID) []ID { return ids }

// Next returns when a job may start without anything else happening, Never for no such time.
func (s *System) Next() job.Time { return cluster.Never }

// Nodes and Free return how many nodes the cluster has, and how many are free.
func (s *System) Nodes() int { return s.nodes }
func (s *System) Free() int  { return s.free }

// Timeline returns how many nodes are free from now on under the reservations that there
// are: all jobs' under CBF, the first waiting one's under EASY, none under FCFS. It is the
// system's own: Clone it to keep or change it.
func (s *System) Timeline(now job.Time) *cluster.Timeline { return nil }

// Running and Waiting yield jobs, the latter in the order of arrival with their reservations.
func (s *System) Running() iter.Seq[Entry] { return nil }
func (s *System) Waiting() iter.Seq[Entry] { return nil }

func (s *System) check(id ID, want state) {
	if int(id) >= len(s.states) || s.states[id] != want {
		panic(fmt.Sprintf("batch: job %d is not there", id))
	}
}
