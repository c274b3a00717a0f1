// Package driver declares what berth needs from a backend, where workers run: one
// machine, a batch system, hosts reached by ssh, rented machines. Each backend lives in
// a folder of its own below, and its driver passes drivertest, the one conformance suite.
package driver

import (
	"context"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/step"
)

// Driver gets allocations and keeps workers running on their nodes. Calls return
// soon; what comes of them is told to the Reporter that the driver was made with.
type Driver interface {
	// Snapshot returns the nodes as they are now, for planning. A driver that reaches several clusters looks at the one of that id
	// (cluster.Queue.ID, job.Batch.Cluster), which the queue is then called by; the others look at what they have.
	Snapshot(ctx context.Context, id string) (cluster.Snapshot, error)
	// Request asks for an allocation; its workers dial the coordinator when it has begun.
	Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error
	// Adopt takes up an allocation that an earlier coordinator had requested: workers
	// that live are watched, those that are dead are started again.
	Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error
	// Release gives an allocation back and ends its workers.
	Release(ctx context.Context, id job.AllocID) error
	// Clear removes what is left of an allocation that is over: keys, logs, map outputs.
	// Until then they stay; a driver whose nodes keep nothing removes all at Release.
	Clear(ctx context.Context, id job.AllocID) error
	// Close stops watching; allocations live on.
	Close() error
}

// Tester is a driver that can ask its batch system when a request would begin.
type Tester interface {
	// Test returns when an allocation would begin by the batch system's own reckoning. A
	// *job.Error of class User says that it would be refused, and why.
	Test(ctx context.Context, req job.AllocRequest) (start job.Time, err error)
}

// Entered is a driver that is reached by what the environments of commands say.
type Entered interface {
	// Use has the cluster of that id (cluster.Queue.ID) reached in that environment from now on, of a batch system also by later coordinators.
	Use(id string, env []string) error
}

// Batch is the driver of a BatchBackend. It reaches its clusters in the environments of the commands that submit jobs, finds out by
// asking whether an allocation is still there, and can keep somebody ready who carries on when no coordinator and no allocation is left.
type Batch interface {
	Driver
	Tester
	Entered
	// Look has the driver ask soon, as a worker of the allocation has gone.
	Look(id job.AllocID)
	// KeepAwake has wake-up jobs kept submitted while jobs that asked for these are
	// unfinished, and no others. It returns at once.
	KeepAwake(reqs []job.AllocRequest)
	// GuardNote says why no wake-up job can be kept ready for a job that asked for req, empty
	// where one is or none is wanted.
	GuardNote(req job.AllocRequest) string
}

// Renter is a driver of rented machines: while an allocation runs, more can be rented and some given back.
type Renter interface {
	Driver
	// Hired returns the machines of an allocation, and what those that are gone have cost. It does not block.
	Hired(id job.AllocID) (all []Hired, gone float64)
	// Hire rents so many more machines of the type of that index in the request's Remote.Rent.Machines, up to its More.
	Hire(id job.AllocID, kind, count int)
	// GiveBack ends the machine of a node. What runs there is lost.
	GiveBack(id job.AllocID, node job.NodeID, reason string)
}

// Hired is a machine that is rented.
type Hired struct {
	Node  job.NodeID
	Kind  int      // index in Remote.Rent.Machines
	Since job.Time // wall clock: it is paid from then on
	Up    bool     // it answers; else it boots
}

// Reporter takes what a driver observes: AllocUp, AllocNote, NodeDown and AllocDown. It may block, and a
// driver calls it with none of its locks held (Outbox); it never calls the driver back.
type Reporter func(step.Input)
