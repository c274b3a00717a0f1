package batch

import (
	"context"
	"errors"
	"os"
	"time"

	"berth/internal/cluster"
	"berth/internal/job"
)

// System is a batch system as one user reaches it by the commands on the PATH of one environment. A new batch system implements this
// interface and nothing else; the tests of package slurm show what has to hold (test/support/drivertest).
//
// Errors are of type *job.Error. Those of class Transient are worth another try later, and nothing is known then of what was
// asked; any other error is final. ErrGone and ErrLater, as job.Error.Err, tell two cases apart. All calls that have a context
// may take long, and end with it.
type System interface {
	// Words returns what messages to users call the batch system.
	Words() Words
	// Detect reports whether the environment or a file says that this machine belongs to a cluster of the batch system, and
	// Installed whether its commands are there. Nothing is asked for either.
	Detect() bool
	Installed() bool
	// Available returns nil where the batch system can be used, and else why not. It may ask, but answers sooner than the
	// other calls where nobody is there.
	Available(ctx context.Context) error
	// Defaults returns what the environment says of all jobs of the user.
	Defaults() job.Batch
	// Inside returns the id of the batch job that a process with the environment is part of; empty: it is part of none.
	Inside() string

	// Snapshot returns the nodes and the queue as this user sees them. Wake-up jobs of the user (WakeName) are
	// left out, as they are cancelled when a coordinator sees them run, but for the job inside, in which this process
	// runs (empty: none). Snapshot.At is left to the caller.
	Snapshot(ctx context.Context, inside string) (cluster.Snapshot, error)
	// Test returns when a job for the request would begin by the batch system's own reckoning. An error
	// of class User says that the request would be refused.
	Test(ctx context.Context, req job.AllocRequest) (job.Time, error)

	// Script returns the script that is submitted for an allocation. It runs "/bin/sh dir/node.sh" (NodeScript) once on each
	// node, ends when all of these have ended, and hands signals on to them. A failure of one node leaves the others alone. The
	// comment names the allocation for people.
	Script(comment, dir string) string
	// NodeVariables returns lines of shell for the beginning of the script of a node. They set the variables rank (0 and up, each number
	// once), node (the node's name as in Status.Hosts) and step (which differs between two runs of the same script).
	NodeVariables() string

	// Submit submits a job and returns its id. Standard output of the command that does it must go straight to out, so
	// that the id is not lost should this process die meanwhile, and out must stay open in that command until it ends: it is locked.
	Submit(ctx context.Context, s Submission, out *os.File) (id string, err error)
	// JobID returns the id in what Submit's command wrote to out; empty: there is none.
	JobID(out string) string
	// Find returns the id of the user's job that was submitted with that script and is not over; empty: there is none.
	Find(ctx context.Context, script string) (id string, err error)
	// Delay changes what a job waits for that has not begun.
	Delay(ctx context.Context, id string, w Wait) error
	// Cancel ends a job, whether it has begun or not. It does not wait for the end.
	Cancel(ctx context.Context, id string) error
	// Jobs returns how jobs are, by id and with one question for all of them. A job that the batch system does not know
	// may be left out.
	Jobs(ctx context.Context, jobs []Job) (map[string]Status, error)
}

// What job.Error.Err is for some errors of a System, so that they can be told apart.
var (
	// ErrGone says that there is no such job, or not any more.
	ErrGone = errors.New("no such job")
	// ErrLater says that a request was understood, and is not accepted now but may be later.
	ErrLater = errors.New("not now")
)

// Words is what messages to users call a batch system.
type Words struct {
	Name       string // of the backend, for --on: "slurm"
	System     string // "Slurm"
	Controller string // what answers its commands: "the Slurm controller"
	Ask        string // the command by which a user sees whether it answers: "sinfo"
}

// Submission is a job to be submitted.
type Submission struct {
	Request job.AllocRequest
	Script  string // path of the script, which no other job has
	Dir     string // folder in which the script runs
	Output  string // path of the file to which the job's output is appended
	Wait    Wait
	// Wake says that it is a wake-up job (WakeName): of Request.Batch.Args only those apply that say where
	// to run and on whose account.
	Wake bool
}

// Wait is what a job waits for before it may begin.
type Wait struct {
	After []string      // the ends of these jobs, however they end
	Delay time.Duration // at least so long from now
}

// Job is what a System is told of a job that it is asked about.
type Job struct {
	ID      string
	Request job.AllocRequest
	Dir     string // the allocation's folder
	Output  string // path of the file with the job's output
	Explain bool   // Status.Verdict is wanted where the job has ended or is ending
}

// Phase is how far a job is.
type Phase int

// Phases of a job.
const (
	Gone     Phase = iota // the batch system does not know it, or not any more
	Waiting               // in the queue
	Starting              // its nodes are being started
	Running
	Ending // its processes are being ended
	Over
	Odd // none of these (suspended, say): Status.Why is its name
)

// Status is how a job is.
type Status struct {
	Phase   Phase
	Why     string   // why it waits, for people; or the name of its phase
	Never   bool     // it waits for something that time does not bring
	Start   job.Time // when it began, or is planned to; 0: unknown
	End     job.Time // when it will be ended, or ended; 0: no end
	Hosts   []string // nodes that it runs on; empty: unknown
	Verdict Verdict  // where Phase is Gone, Ending or Over and Job.Explain is set
}

// Verdict is why a job ended. The zero value says that the batch system cannot tell.
type Verdict struct {
	Reason string // for people; empty: nothing but its script ended it, if Script is set
	Script bool   // its script came to its end by itself
	Failed bool   // and not well, with
	Exit   int    // that status
	Output string // last line of the job's output that tells something
}
