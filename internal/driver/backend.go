package driver

import (
	"context"
	"log/slog"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/wire"
)

// Backend is where workers can run: this machine, a batch system, hosts, rented machines. It answers what can be answered
// without a driver, and makes its driver. Package registry lists all backends.
type Backend interface {
	// Name is what --on calls it.
	Name() string
	// Detect reports whether this machine belongs to the backend, by an environment and the files of the machine.
	// It does not ask whether the backend can be used; Observe finds that out.
	Detect(env []string) bool
	// Observe returns the nodes that a job can run on. It first completes the request by what the environment says of all jobs of the user.
	Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (Observation, error)
	// New returns the backend's driver, which has already dealt with the allocations that no coordinator knows any more.
	New(s Setup) (Driver, error)
}

// BatchBackend is a backend that a batch system manages. Its nodes are other machines, and its allocations outlive the machine from
// which they were requested.
type BatchBackend interface {
	Backend
	// Reachable reports whether the batch system's commands are there, or jobs were submitted by a coordinator with that
	// state folder before, in whatever environment. Whether a controller answers is not asked: it may be away, and come back.
	Reachable(env []string, state string) bool
	// Inside returns the id of the batch job that a process with that environment is part of; empty: it is part of none.
	Inside(env []string) string
	// JobOf returns the id of the batch job that is an allocation of a coordinator with that state folder; empty where none is known.
	JobOf(state string, id job.AllocID) string
}

// Observation is what a backend has to offer at one time.
type Observation struct {
	Snapshot      cluster.Snapshot
	NodeType      string   // the key of profiles of runs there
	Notes         []string // for the user
	Tester        Tester   // predicts when a request would begin; nil: nothing does
	NoSharedFiles bool     // no node sees the files of this machine
}

// Setup is what a coordinator gives to the driver that it makes.
type Setup struct {
	Exe   string // path of the berth program, on a file system that the nodes share
	State string // the coordinator's own folder, in which the driver has one for its allocations
	// Shared is a folder of the user's on a file system that nodes of batch systems see.
	Shared string
	// Known are the allocations that are not over, Uncleared those that are over and of which something may be left to read.
	Known, Uncleared []job.AllocID

	// Issue writes the keys of a node's worker, and where the coordinator is, to a file.
	Issue  func(node job.NodeID, path string) error
	Report Reporter
	Now    func() job.Time // by which the driver waits; it need not follow steps of the wall clock
	Wall   func() job.Time // the wall clock, which batch systems speak of; nil: Now
	Log    *slog.Logger    // nil: discards

	// Of batch systems alone: Env is the environment for clusters of which none is remembered, nil for that of this process. StandIn is what workers and wake-up
	// jobs need to start a stand-in coordinator, nil where they shall start none; Wake has wake-up jobs submitted, too. Inside is the
	// batch job in which this process runs, empty for none.
	Env     []string
	StandIn *wire.StandIn
	Inside  string
	Wake    bool
}
