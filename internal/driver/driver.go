// Package driver declares what berth needs from a backend: where workers run (one machine, a
// batch system, hosts reached by ssh, rented machines). Each backend is a package in a folder
// below this one. Its driver passes drivertest, the conformance suite of all drivers.
//
// A coordinator makes a driver with Backend.New and calls Request, Release and Clear. The driver
// reports what happens to the allocation through its Reporter:
//
//	d, err := backend.New(driver.Setup{Exe: exe, State: folder, Report: coordinator.Post, Now: now})
//	err = d.Request(ctx, "a1", req) // step.AllocUp follows when its workers start
//
// A driver decides nothing about jobs: which allocations are requested and which tasks run on
// them is for packages plan and engine.
package driver

import (
	"context"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/step"
)

// Driver gets allocations and keeps workers running on their nodes. Its methods return
// soon. Their results come later, through the Reporter that the driver was made with.
type Driver interface {
	// Request asks for an allocation. Its workers dial the coordinator once it has started.
	Request(ctx context.Context, id job.AllocID, req job.AllocRequest) error
	// Adopt takes over an allocation that an earlier coordinator requested. It watches the workers
	// that live and starts the others again.
	Adopt(ctx context.Context, id job.AllocID, req job.AllocRequest) error
	// Release ends the workers of an allocation and gives its nodes back.
	Release(ctx context.Context, id job.AllocID) error
	// Clear removes what an allocation that has ended left behind: keys, logs, map outputs.
	// They stay until then, except where nodes keep no files: there Release removes everything.
	Clear(ctx context.Context, id job.AllocID) error
	// Close stops watching. The allocations continue.
	Close() error
}

// Observer is implemented by a driver whose allocations are planned again and again, for the present nodes and their queue.
type Observer interface {
	// Snapshot returns the present state of the nodes. A driver that reaches several clusters returns the one with this
	// id (cluster.Queue.ID, job.Batch.Cluster), and the snapshot's queue has this id.
	Snapshot(ctx context.Context, id string) (cluster.Snapshot, error)
}

// Tester is implemented by a driver that can ask its batch system when a request would start.
type Tester interface {
	// Test returns the time at which the batch system predicts that an allocation would start. If it
	// would refuse the request, Test returns a *job.Error of class User with the reason.
	Test(ctx context.Context, req job.AllocRequest) (start job.Time, err error)
}

// Entered is implemented by a driver that reaches its clusters in the environments of users' commands.
type Entered interface {
	// Use makes env the environment in which the cluster with this id (cluster.Queue.ID) is reached from now on. A batch system's driver remembers it for later coordinators.
	Use(id string, env []string) error
}

// Remembering is implemented by a driver of batch systems that may know which jobs a cluster had.
type Remembering interface {
	// Past returns what the accounting of a cluster tells of the jobs since an instant. It is an error if there is none, or if it
	// does not answer. user is the user of the snapshots (cluster.Queue.User).
	Past(ctx context.Context, id, user string, from job.Time) (starts.History, error)
}

// Batch is the driver of a BatchBackend. It reaches its clusters in the environments of the commands that submit jobs. It polls
// the batch system to learn whether an allocation still exists. It can submit wake-up jobs, which continue the user's jobs when no coordinator and no allocation is left.
type Batch interface {
	Driver
	Observer
	Tester
	Entered
	// Look polls the allocation's batch job soon, as one of its workers has disconnected.
	Look(id job.AllocID)
	// KeepAwake keeps wake-up jobs submitted for unfinished jobs, whose requests are reqs, and
	// cancels all others. It returns at once.
	KeepAwake(reqs []job.AllocRequest)
	// GuardNote returns the reason why no wake-up job can be kept submitted for a job with this
	// request. It returns "" where one is submitted or none is wanted.
	GuardNote(req job.AllocRequest) string
}

// Renter is implemented by a driver of rented machines: while an allocation runs, it can rent more machines and give some back.
type Renter interface {
	Driver
	// Machines returns the machines of an allocation, and what the machines that have ended cost in US dollars. It does not block.
	Machines(id job.AllocID) (all []RentedMachine, gone float64)
	// Rent rents count more machines of type kind, an index in the request's Remote.Rent.Machines, up to the request's More.
	Rent(id job.AllocID, kind, count int)
	// GiveBack ends the machine of a node. Attempts that run there are lost.
	GiveBack(id job.AllocID, node job.NodeID, reason string)
}

// Replacer is implemented by a driver whose workers may live and not answer, as they are stopped.
type Replacer interface {
	// Replace ends the worker of a node that was given up, so that another one starts.
	Replace(node job.NodeID)
}

// RentedMachine is a rented machine.
type RentedMachine struct {
	Node  job.NodeID
	Kind  int      // index in Remote.Rent.Machines
	Since job.Time // wall clock time from which it is paid
	Up    bool     // its worker is connected; otherwise it boots
}

// MachineStatus is a rented machine that exists, as berth machines prints it. Keys are only added to its JSON form.
type MachineStatus struct {
	ID      string   `json:"id"`
	Type    string   `json:"type"`  // as the catalogue calls it, or EC2
	State   string   `json:"state"` // `pending` or `running`
	Region  string   `json:"region"`
	Since   job.Time `json:"since_ns"`          // when it was started, in nanoseconds since the Unix epoch
	Seconds float64  `json:"seconds"`           // seconds since then
	Cost    float64  `json:"cost"`              // cost so far, by price and billing unit of the catalogue; 0: price not known
	Job     string   `json:"job,omitempty"`     // name of the job for which it was rented first
	Alloc   string   `json:"alloc"`             // the allocation that it belongs to
	Foreign bool     `json:"foreign,omitempty"` // another state folder rented it, so `--all` does not end it
}

// Reporter receives what a driver observes: AllocUp, AllocNote, NodeDown and AllocDown. It may block, so a
// driver calls it without holding a lock (see Outbox). It never calls the driver.
type Reporter func(step.Input)
