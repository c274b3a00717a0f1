package driver

import (
	"context"
	"log/slog"

	"berth/internal/cluster"
	"berth/internal/job"
	"berth/internal/wire"
)

// Place is a kind of place to run: what can be said of it without a driver, and how its driver is made. Package registry
// lists them all.
type Place interface {
	// Name is what --on calls it.
	Name() string
	// Here reports whether an environment and the files of this machine say that the machine belongs to such a place.
	// Whether the place can be used is another question, which Look answers.
	Here(env []string) bool
	// Look returns what there is to run on. It first completes the request by what the environment says of all jobs of the user.
	Look(ctx context.Context, env []string, at job.Time, r *job.Request) (Sight, error)
	// New returns the place's driver, which has taken stock of the allocations that nobody knows any more.
	New(s Setup) (Driver, error)
}

// BatchPlace is a place that a batch system manages. Its nodes are other machines, and its allocations go on when the machine that
// they were asked for from is gone.
type BatchPlace interface {
	Place
	// Reachable reports whether the batch system's commands are there, or jobs were submitted by a coordinator with that
	// state folder before, in whatever environment. Whether a controller answers is not asked: it may be away, and come back.
	Reachable(env []string, state string) bool
	// Inside returns the id of the batch job that a process with that environment is part of; empty: it is part of none.
	Inside(env []string) string
	// JobOf returns the id of the batch job that is an allocation of a coordinator with that state folder; empty where none is known.
	JobOf(state string, id job.AllocID) string
}

// Sight is what there is to run on in a place.
type Sight struct {
	Snapshot cluster.Snapshot
	NodeType string   // what profiles of runs there are kept under
	Notes    []string // what the user should know of it
	Tester   Tester   // reckons when a request would begin; nil: nobody does
	Apart    bool     // no node sees the files of this machine
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
