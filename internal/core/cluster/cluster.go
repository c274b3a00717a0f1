// Package cluster describes what a backend offers: its nodes, their free resources, and the queue in front of them.
// From a snapshot of the queue it computes the timeline of free nodes, in which package plan finds the free slots for
// allocations (paper "mr-job-adaptor", section 3; docs/models.md, "Timeline and free slots").
//
//	line, facts := snapshot.Timeline(cluster.View{PerNode: job.Resources{CPUs: 4}})
//	slots := line.Slots()
//
// It belongs to the pure core and has no clock, file, network or process: drivers make snapshots, plan reads them.
package cluster

import (
	"time"

	"berth/internal/core/job"
)

// Node is one machine of a cluster, or the share of it that one worker gets.
type Node struct {
	Name     string        `json:"name"`
	Capacity job.Resources `json:"capacity"` // GPUs of several types: only those of the type that it has most of
	Free     job.Resources `json:"free"`
	Down     string        `json:"down,omitempty"`     // the reason why no job can start there, as "drained: bad disk", or empty
	Features []string      `json:"features,omitempty"` // names that --constraint can require
	// Threads is how many of the CPUs are one core; 0: one, or unknown.
	Threads int `json:"threads,omitempty"`
	// Only has the ids of the cores that the job may use, on one machine where they are not all of its cores.
	Only []int `json:"only,omitempty"`
}

// Snapshot is the state of a cluster at an instant, as a driver observed it.
type Snapshot struct {
	Driver string   `json:"driver"`
	At     job.Time `json:"at_ns"`
	Nodes  []Node   `json:"nodes"`
	Queue  *Queue   `json:"queue,omitempty"` // nil: the backend has no queue, all nodes are available at once
}

// Queue is the batch system's jobs and rules. Nodes are named by their index in Snapshot.Nodes.
type Queue struct {
	// ID distinguishes the cluster from others that may have the same name; empty where there is only one.
	ID           string        `json:"id,omitempty"`
	Cluster      string        `json:"cluster"` // name of the cluster
	User         string        `json:"user"`    // the user for whom the snapshot was made
	Partitions   []Partition   `json:"partitions"`
	Running      []Queued      `json:"running"`
	Pending      []Queued      `json:"pending"` // the highest priority first
	Reservations []Reservation `json:"reservations"`
	// Hidden says in words what the batch system does not show to the user; empty: nothing is hidden.
	Hidden string `json:"hidden,omitempty"`
	// Accounting is the limits of the user's accounts and QOS; nil: none are enforced or known.
	Accounting *Accounting `json:"accounting,omitempty"`
	// Grain is the unit to which wall times are rounded up; 1 min for Slurm.
	Grain time.Duration `json:"grain_ns"`
	// Rank is what each core of a request counts in the order of pending jobs; zero: that does not depend on the size of a request.
	Rank Rank `json:"rank,omitzero"`
	// Depth is for how many pending jobs nodes are reserved while others start before them; 0: unknown, below 0: for none.
	Depth int `json:"depth,omitempty"`
	// Licences are those that the batch system gives to jobs which request them.
	Licences []Licence `json:"licences,omitempty"`
	Words    Words     `json:"words,omitzero"`
}

// Licence is a licence of which the batch system has so many.
type Licence struct {
	Name  string `json:"name"`
	Total int    `json:"total"`
	Free  int    `json:"free"`
}

// Rank says how a batch system that prefers large requests orders them: a request goes before the pending jobs whose Queued.Rank is
// less than its number of cores times PerCore, or, if it is for whole nodes, times both together.
type Rank struct {
	PerCore float64 `json:"per_core"`
	Whole   float64 `json:"whole,omitempty"`
}

// Words has the batch system's own names for what a plan reads in requests and says in messages.
type Words struct {
	Reservation string `json:"reservation,omitempty"` // beginning of the argument that requests a reservation (job.Request.BatchArgs)
	Limits      string `json:"limits,omitempty"`      // the commands that show the limits of an account or a QOS
	// Cores are the arguments with which a CPU of a request is a core, also where its nodes have a CPU for each hardware thread.
	Cores []string `json:"cores,omitempty"`
	// Licences are the beginnings of arguments that request licences.
	Licences []string `json:"licences,omitempty"`
}

// DefaultPartition returns the name of the partition for jobs that name none; "" without one.
func (q *Queue) DefaultPartition() string {
	for _, p := range q.Partitions {
		if p.Default {
			return p.Name
		}
	}
	return ""
}

// Partition is a set of nodes with its own rules.
type Partition struct {
	Name         string        `json:"name"`
	Default      bool          `json:"default"`
	Hidden       bool          `json:"hidden,omitempty"` // it is only for those who know its name
	Closed       string        `json:"closed,omitempty"` // the reason why no job of the user can start or be submitted, or empty
	Drains       bool          `json:"drains,omitempty"` // it is closed to new jobs of the user only: jobs that are in it start
	Later        string        `json:"later,omitempty"`  // in words, why no job starts in it now, although jobs can be submitted and wait until it opens
	Nodes        []int         `json:"nodes"`
	MaxTime      time.Duration `json:"max_time_ns"`               // 0: unlimited
	DefaultTime  time.Duration `json:"default_time_ns"`           // 0: none is set
	MinNodes     int           `json:"min_nodes"`                 // of a job; 0: no bound
	MaxNodes     int           `json:"max_nodes"`                 // of a job; 0: no bound
	MinTime      time.Duration `json:"min_time_ns,omitempty"`     // 0: no bound
	MinCPUs      int           `json:"min_cpus,omitempty"`        // of a job, on all nodes together; 0: no bound
	MaxPerNode   job.Resources `json:"max_per_node,omitzero"`     // what a job may have of a node; 0: no bound
	MaxMemPerCPU int64         `json:"max_mem_per_cpu,omitempty"` // bytes; 0: no bound
	Whole        bool          `json:"whole,omitempty"`           // jobs get whole nodes only
	QOS          string        `json:"qos,omitempty"`             // whose bounds hold for all jobs in it; empty: none
	Bounds       Bounds        `json:"bounds,omitzero"`           // its own, whatever the account
	// Forced says by node what a request must name to run there, in the form of a constraint that the words of the request meet.
	Forced map[int]string `json:"forced,omitempty"`
	// Accounts are those whose jobs it takes, or with "-" before each name those whose jobs it does not take, and QOSes likewise; nil: it takes all.
	Accounts []string `json:"accounts,omitempty"`
	QOSes    []string `json:"qoses,omitempty"`
	// Preempted says in words what happens to its jobs when jobs of other partitions need the nodes; empty: they keep them.
	Preempted string `json:"preempted,omitempty"`
}

// Allows returns how much of a node's resources a job may have in the partition.
func (p *Partition) Allows(r job.Resources) job.Resources {
	if most := p.MaxPerNode.CPUs; most > 0 {
		r.CPUs = min(r.CPUs, most)
	}
	if most := p.MaxPerNode.Mem; most > 0 {
		r.Mem = min(r.Mem, most)
	}
	if p.MaxMemPerCPU > 0 {
		r.Mem = min(r.Mem, p.MaxMemPerCPU*int64(r.CPUs))
	}
	return r
}

// Queued is a running or pending job of the batch system.
type Queued struct {
	ID        string        `json:"id"`
	User      string        `json:"user"`
	Partition string        `json:"partition"`
	Account   string        `json:"account,omitempty"`
	QOS       string        `json:"qos,omitempty"`
	Nodes     []int         `json:"nodes,omitempty"` // running: its nodes; pending: its planned nodes, if known
	Count     int           `json:"count"`           // number of nodes; each task of an array is a job
	PerNode   job.Resources `json:"per_node"`
	Whole     bool          `json:"whole,omitempty"`  // it shares its nodes with no other job
	Start     job.Time      `json:"start_ns"`         // running: when it began; pending: as planned by the batch system, 0: unknown
	Limit     time.Duration `json:"limit_ns"`         // wall time; 0: unlimited
	Held      string        `json:"held,omitempty"`   // the reason why it cannot start by itself (held, depends on another job), or empty
	Repeat    int           `json:"repeat,omitempty"` // pending: number of equal jobs (tasks of an array); 0 is 1
	Rank      float64       `json:"rank,omitempty"`   // pending: see Rank; 0: no request goes before it
	Alloc     job.AllocID   `json:"-"`                // pending: the request of whoever asks that it is; empty: of others
	Free      job.Time      `json:"-"`                // running: when its user is expected to give it back; 0: it is not known to be before its limit
}

// Reservation keeps nodes for some users for a time.
type Reservation struct {
	Name  string   `json:"name"`
	Nodes []int    `json:"nodes"`
	Start job.Time `json:"start_ns"`
	End   job.Time `json:"end_ns"`
	Mine  bool     `json:"mine,omitempty"` // the user may use it by its name, with one of the accounts
	// Accounts are those that may use it, with all below them, or with "-" before each name those that may not; nil: all may.
	Accounts []string `json:"accounts,omitempty"`
	Magnetic bool     `json:"magnetic,omitempty"` // its nodes are for all jobs that may use it, also if they do not name it
}

// Capacity returns the resources of all nodes together.
func (s Snapshot) Capacity() job.Resources {
	var sum job.Resources
	for _, n := range s.Nodes {
		sum = sum.Plus(n.Capacity)
	}
	return sum
}
