// Package cluster describes what a place has to offer: its nodes, what is free on
// them, and the queue before them. From a snapshot of the queue it makes the
// timeline of free nodes, in which plan finds the free slots that an allocation can take
// (paper "mr-job-adaptor", section 3; docs/models.md).
//
// It belongs to the pure core: drivers make snapshots, plan reads them.
package cluster

import (
	"time"

	"berth/internal/job"
)

// Node is one machine of a cluster, or the share of it that one worker gets.
type Node struct {
	Name     string        `json:"name"`
	Capacity job.Resources `json:"capacity"`
	Free     job.Resources `json:"free"`
	Down     string        `json:"down,omitempty"`     // why no job can start there, "drained: bad disk" say; empty: one can
	Features []string      `json:"features,omitempty"` // what --constraint can ask for
}

// Snapshot is what a driver saw at an instant.
type Snapshot struct {
	Driver string   `json:"driver"`
	At     job.Time `json:"at_ns"`
	Nodes  []Node   `json:"nodes"`
	Queue  *Queue   `json:"queue,omitempty"` // nil: there is none, all is had at once
}

// Queue is what a batch system says of its jobs and rules. Nodes are named by their
// index in Snapshot.Nodes.
type Queue struct {
	// ID tells the cluster from others that may have the same name; empty where there is but one.
	ID           string        `json:"id,omitempty"`
	Cluster      string        `json:"cluster"` // its name
	User         string        `json:"user"`    // who looks
	Partitions   []Partition   `json:"partitions"`
	Running      []Queued      `json:"running"`
	Pending      []Queued      `json:"pending"` // the highest priority first
	Reservations []Reservation `json:"reservations"`
	// Accounting is what the user's account and QOS allow; nil: nothing is enforced, or known.
	Accounting *Accounting `json:"accounting,omitempty"`
	// Grain is what wall times are rounded up to; 1 min for Slurm.
	Grain time.Duration `json:"grain_ns"`
}

// DefaultPartition returns the name of the partition of jobs that name none; "" without one.
func (q *Queue) DefaultPartition() string {
	for _, p := range q.Partitions {
		if p.Default {
			return p.Name
		}
	}
	return ""
}

// Partition is a set of nodes with rules of its own.
type Partition struct {
	Name        string        `json:"name"`
	Default     bool          `json:"default"`
	Closed      string        `json:"closed,omitempty"` // why no job can start or be submitted; empty: open
	Nodes       []int         `json:"nodes"`
	MaxTime     time.Duration `json:"max_time_ns"`     // 0: unlimited
	DefaultTime time.Duration `json:"default_time_ns"` // 0: none is set
	MinNodes    int           `json:"min_nodes"`       // of a job; 0: no bound
	MaxNodes    int           `json:"max_nodes"`       // of a job; 0: no bound
	Whole       bool          `json:"whole,omitempty"` // jobs get whole nodes only
	QOS         string        `json:"qos,omitempty"`   // that bounds all jobs in it; empty: none
}

// Queued is a job of the batch system.
type Queued struct {
	ID        string        `json:"id"`
	User      string        `json:"user"`
	Partition string        `json:"partition"`
	Nodes     []int         `json:"nodes,omitempty"` // running: where; pending: those planned, where they are known
	Count     int           `json:"count"`           // how many nodes; an array's tasks are jobs of their own
	PerNode   job.Resources `json:"per_node"`
	Whole     bool          `json:"whole,omitempty"`  // shares its nodes with nobody
	Start     job.Time      `json:"start_ns"`         // running: when it began; pending: as planned by the batch system, 0: unknown
	Limit     time.Duration `json:"limit_ns"`         // wall time; 0: unlimited
	Held      string        `json:"held,omitempty"`   // why it cannot start by itself: held, waits for another job; empty: it can
	Repeat    int           `json:"repeat,omitempty"` // pending: so many equal jobs (tasks of an array); 0 is 1
}

// Reservation keeps nodes for somebody for a while.
type Reservation struct {
	Name  string   `json:"name"`
	Nodes []int    `json:"nodes"`
	Start job.Time `json:"start_ns"`
	End   job.Time `json:"end_ns"`
	Mine  bool     `json:"mine,omitempty"` // the user may use it, when asking for it by name
}

// Capacity returns the resources of all nodes together.
func (s Snapshot) Capacity() job.Resources {
	var sum job.Resources
	for _, n := range s.Nodes {
		sum = sum.Plus(n.Capacity)
	}
	return sum
}
