package batch

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/driver"
)

// System is a batch system as one user reaches it by the commands on the PATH of one environment. To support a new batch system,
// implement this interface only. The tests of package slurm show what an implementation must fulfil (test/support/drivertest).
//
// Errors are of type *job.Error. After an error of class Transient a later retry may succeed, and the result of the call is
// unknown. All other errors are final. ErrAway, ErrGone, ErrLater and ErrUnsaid, as job.Error.Err, mark special cases. Calls with a context
// may take long, and end with the context.
type System interface {
	// Words returns the batch system's own names. No other code contains them.
	Words() driver.BatchWords
	// Detect reports whether the environment or a file shows that this machine belongs to a cluster of the batch system.
	// Installed reports whether its commands are installed. Neither calls the batch system.
	Detect() bool
	Installed() bool
	// Available returns nil if the batch system can be used, else the reason as an error. It may call the batch system, but
	// it fails sooner than the other calls if no controller answers.
	Available(ctx context.Context) error
	// Defaults returns the options that the environment sets for all jobs of the user, and notes about those that are not used.
	Defaults() (b job.Batch, notes []string)

	// Snapshot returns the nodes and the queue as this user sees them. It leaves out the user's wake-up jobs (WakeName), as a
	// coordinator cancels them when they start, except the job inside, in which this process
	// runs ("": none). The caller sets Snapshot.At.
	Snapshot(ctx context.Context, inside string) (cluster.Snapshot, error)
	driver.Tester

	// Script returns the script that is submitted for an allocation. The script runs "/bin/sh dir/node.sh" (NodeScript) once on
	// each node, ends when all of these have ended, and passes signals on to them. The failure of one node does not affect the others. The
	// comment says to people which allocation it is.
	Script(comment, dir string) string
	// NodeVariables returns shell lines for the beginning of a node's script. They set the variables rank (0, 1, …, each number
	// once), node (the node's name as in Status.Hosts) and step (different for two runs of the same script).
	NodeVariables() string

	// Submit submits a job and returns its id. The standard output of the submitting command must go directly to out, so
	// that the id is not lost if this process dies. The command must keep out open until it ends, as out is locked.
	Submit(ctx context.Context, s Submission, out *os.File) (id string, err error)
	// JobID returns the id in the output that Submit's command wrote to out, or "" if there is none.
	JobID(out string) string
	// Find returns the id of the user's job that was submitted with this script and has not ended, or "" if there is none.
	Find(ctx context.Context, script string) (id string, err error)
	// Delay changes the conditions for which a pending job waits.
	Delay(ctx context.Context, id string, w Wait) error
	// Cancel ends a pending or running job. It does not wait for the end. again says that an earlier call was accepted and
	// the job has not ended for a minute, so that stronger means are in place.
	Cancel(ctx context.Context, id string, again bool) error
	// Jobs returns the states of jobs by id, with one question for all of them. Jobs that the batch system does not know
	// may be missing. Ids repeat (a cluster that was made anew, a counter that began again), so a job is known by its id and
	// its script: one with the id of another script is AnotherJob.
	Jobs(ctx context.Context, jobs []Job) (map[string]Status, error)
}

// Accounting is implemented by a System that may have accounting; see driver.Remembering.
type Accounting interface {
	Past(ctx context.Context, user string, from job.Time) (starts.History, error)
}

// Values of job.Error.Err for some errors of a System.
var (
	// ErrAway says that the batch system does not answer. It is unknown whether it carried out the request.
	ErrAway = errors.New("the batch system does not answer")
	// ErrGone says that the job does not exist, or not any more.
	ErrGone = errors.New("no such job")
	// ErrLater says that a request is valid, is not accepted now, and may be accepted later.
	ErrLater = errors.New("not now")
	// ErrUnsaid says that a request failed and the batch system does not say why. The second such failure of a request is a refusal.
	ErrUnsaid = errors.New("no reason is given")
)

// Submission is a job that is to be submitted.
type Submission struct {
	Request job.AllocRequest
	Script  string // path of the script, which no other job has
	Dir     string // folder in which the script runs
	Output  string // path of the file to which the job's output is appended
	Wait    Wait
	Note    func(text string) // tells the user something of the job; nil: nobody
}

// Wait is the condition for which a job waits before it may start.
type Wait struct {
	After []string      // jobs that must have ended, successfully or not
	Delay time.Duration // the shortest wait from now
}

// Begin returns the earliest start of a job that is submitted now, in UTC, as POSIX has it for qsub -a.
func (w Wait) Begin(now time.Time) string { return now.Add(w.Delay).UTC().Format("200601021504.05") }

// Job is a job whose state is asked for.
type Job struct {
	ID      string
	Request job.AllocRequest
	Dir     string // the allocation's folder, see Submitted
	Output  string // path of the file with the job's output
	Explain bool   // asks for Status.Verdict if the job has ended or is ending
}

// Phase is the phase of a batch job.
type Phase int

// Phases of a job.
const (
	Gone     Phase = iota // the batch system does not know it, or not any more
	Waiting               // in the queue
	Starting              // its nodes are being started
	Running
	Ending // its processes are being ended
	Over
	Odd // none of these (suspended, for example): Status.Why is the state's name
)

// HoldsNodes reports whether a job in this phase occupies its nodes.
func (p Phase) HoldsNodes() bool { return p > Waiting && p != Over }

// States are a batch system's names of the states in each phase, with blanks around each name.
type States [Odd + 1]string

// Phase returns the phase of a job in this state. It is Gone for a state without a name, or of which nothing is known.
func (s States) Phase(state string) Phase {
	return Phase(max(0, slices.IndexFunc(s[:], func(names string) bool { return strings.Contains(names, " "+state+" ") })))
}

// Status is the state of a batch job.
type Status struct {
	Phase   Phase
	Why     string   // for people: why it waits, or the name of its phase
	Never   bool     // it waits for something that will not come
	Start   job.Time // when it started, or is planned to start; 0: unknown
	End     job.Time // when it ended, or will be ended; 0: no end
	Hosts   []string // nodes on which it runs; empty: unknown
	Verdict Verdict  // set if Phase is Gone, Ending or Over and Job.Explain is set
	Other   bool     // another job has its id now
}

// AnotherJob is the state of a job whose id another job has now.
var AnotherJob = Status{Other: true, Verdict: Verdict{Reason: "the batch system has given its id to another job"}}

// Verdict is the reason why a job ended. The zero value says that the batch system does not know it.
type Verdict struct {
	Reason string // for people; "": the script ended by itself if Script is set
	Taken  bool   // Reason is that it was cancelled or preempted, or that a node failed
	Script bool   // its script ended by itself
	Failed bool   // its script failed
	Exit   int    // exit status of its script
	Output string // the last informative line of the job's output
}

// Taken is the verdict on a job that something else than its script ended, such as a cancellation or the failure of a node.
func Taken(reason string) Verdict { return Verdict{Reason: reason, Taken: true} }

// Exited is the verdict on a job whose script has ended by itself. Lines of its output that contain one of the texts inform nobody.
func Exited(status int, output string, noise ...string) Verdict {
	return Verdict{Script: true, Failed: status != 0, Exit: status, Output: LastWords(output, noise...)}
}
