package driver

import (
	"context"
	"fmt"
	"log/slog"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/starts"
	"berth/internal/node/process"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// Backend is where workers can run: this machine, a batch system, hosts reached by ssh, rented machines. It answers the
// questions that need no driver, and makes its driver. Package registry lists all backends.
type Backend interface {
	// Name returns the backend's name, as in --on.
	Name() string
	// Detect reports whether this machine belongs to the backend, as the environment and the files of the machine
	// show. It does not check whether the backend can be used; Observe does.
	Detect(env []string) bool
	// Observe returns the nodes that a job can run on. Before that it completes the request r with the defaults that env sets for all jobs of the user.
	Observe(ctx context.Context, env []string, at job.Time, r *job.Request) (Observation, error)
	// New returns the backend's driver. The driver has already ended the allocations that no coordinator knows any more.
	New(s Setup) (Driver, error)
}

// BatchBackend is a backend that a batch system manages. Its nodes are other machines. Its allocations outlive the machine from
// which they were requested.
type BatchBackend interface {
	Backend
	// Reachable reports whether the batch system's commands are installed, or whether an earlier coordinator with this
	// state folder submitted jobs, in any environment. It does not ask whether a controller answers, as that may change at any time.
	Reachable(env []string, state string) bool
	// Available returns nil if the batch system answers in an environment, else the reason as an error.
	Available(ctx context.Context, env []string) error
	// JobOf returns the id of the batch job that runs an allocation of the coordinator with this state folder, or "" if none is known.
	JobOf(state string, id job.AllocID) string
	// Words returns the batch system's own names.
	Words() BatchWords
}

// BatchWords has a batch system's own names for what users, tasks and messages meet.
type BatchWords struct {
	parse.BatchSystem        // what it is called on the command line
	System            string // "Slurm"
	Controller        string // the service that answers its commands: "the Slurm controller"
	Ask               string // the command with which a user checks whether the controller answers: "sinfo"
	Cancel            string // the command with which a user ends a job: "scancel"
	// List and Run are further commands that users know: those that list jobs, and those that run a command at once.
	List, Run []string
	Where     []string // options of its command that a wake-up job has, too: they say where it runs and whose account it uses (batch.Where)
	Noise     []string // texts in lines of a job's output that inform nobody
	// Mark begins the lines of a script that have options of its command. Directives are those of them that a bag has, too, without
	// their dashes, with the names of the options; "": such lines are not read.
	Mark       string
	Directives Table
	Variables  process.SystemVariables // by which it describes an allocation to a process
	// Cores returns how many cores of a host the batch job has that a process with this environment is part of.
	Cores func(env []string, host string) BatchCores
	// Accounting is the command that prints the jobs of the last days, and ReadPast reads what it has printed of those since an
	// instant, as Remembering.Past does; name is that of the text in errors. Empty and nil: there is no such command.
	Accounting string
	ReadPast   func(text, name, user string, from job.Time) (starts.History, error)
}

// Observation is what a backend can offer at one time.
type Observation struct {
	Snapshot      cluster.Snapshot
	NodeType      string            // the key under which profiles of runs on these nodes are stored
	Notes         []string          // sentences for the user
	Tester        Tester            // predicts when a request would start; nil: no prediction is possible
	NoSharedFiles bool              // no node sees the files of this machine
	LeftOut       []cluster.LeftOut // partitions that the job may not use, where the request asks for any
}

// Equip writes the keys of a worker, and its config to a file.
func (s *Setup) Equip(c wire.WorkerConfig, file string) error {
	if err := s.Issue(c.Node, c.Bundle); err != nil {
		return fmt.Errorf("make keys for %s: %w", c.Node, err)
	}
	return statedir.WriteJSON(file, c)
}

// Setup is what a coordinator gives to a driver when it makes it.
type Setup struct {
	Exe   string // path of the berth program, on a file system that the nodes share
	State string // the coordinator's own folder; the driver has a folder in it for its allocations
	// Shared is a folder of the user on a file system that the nodes of batch systems see.
	Shared string
	// Known are the allocations that have not ended. Uncleared are those that have ended and whose files may still be read.
	Known, Uncleared []job.AllocID

	// Issue writes the keys of a node's worker and the coordinator's address to a file.
	Issue  func(node job.NodeID, path string) error
	Report Reporter
	Now    func() job.Time // the clock for the driver's own waiting; it need not follow steps of the wall clock
	Wall   func() job.Time // the wall clock, in which batch systems and providers give times
	Log    *slog.Logger

	// The rest is for batch systems only. Env is the environment for clusters without a remembered one.
	// StandIn is what workers and wake-up jobs need to start a stand-in coordinator; nil: they start none. Inside is the batch job
	// in which this process runs, or "". Wake says whether wake-up jobs are submitted, too.
	Env     []string
	StandIn *wire.StandIn
	Inside  string
	Wake    bool
}
