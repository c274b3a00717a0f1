// Package sim runs whole workloads on a simulated cluster, in virtual time: rigid jobs go
// to the batch system as they are, MapReduce jobs and bags through the same packages that
// run them for real. plan looks at the simulated queue, engine runs the tasks in simulated
// allocations, sched orders them; the simulator only draws how long things take and what
// fails, and says so to the engine as drivers and workers do.
//
// A simulation is a function of its Config: no clock, file, goroutine or global random
// source takes part, and the same Config gives the same Result.
package sim

import (
	"time"

	"berth/internal/job"
	"berth/internal/sched"
	"berth/internal/sched/straggler"
	"berth/internal/sim/batch"
	"berth/internal/workload"
)

// Config is all that a simulation depends on.
type Config struct {
	Cluster Cluster
	Cloud   *Cloud // nil: there is none
	Policy  batch.Policy
	Rigid   []workload.Rigid   // in the order of Submit
	Elastic []workload.Elastic // likewise
	Adaptor Adaptor            // how the elastic jobs come to the cluster
	Faults  Faults
	Seed    uint64 // of what fails, and of the profiles' samples
}

// Cluster is the simulated machine: one partition of whole nodes.
type Cluster struct {
	Nodes int
	// Cores is that of each node: tasks that run there at once; 0 is 1. Every task needs one
	// core. That is the paper's one map and one reduce slot a node: the maps and the reduces of
	// a job do not compute at once, and while its maps run one reduce a core shuffles ahead.
	Cores   int
	Speeds  []float64     // of each node's cores; nil: all 1
	MaxTime time.Duration // the longest wall time that the queue takes of elastic jobs; 0: unlimited
	StartUp time.Duration // from the start of an allocation until its workers are there
	// Hardware is what each node is where phases contend (workload.Phased); nil for other jobs. Cores and Speeds do not
	// matter then.
	Hardware []Hardware
	// Spells are when each node is slow, where tasks have paces (workload.Pace); nil: never. Times are since the beginning
	// of the workload.
	Spells []workload.Spells
}

// Way is who says how many nodes and how much time a MapReduce job or bag gets.
type Way string

// The ways.
const (
	// Naive asks for as many nodes as there are maps or reduces, for the longest time
	// allowed: the baseline of the paper "mr-job-adaptor", section 4.
	Naive Way = "naive"
	// Paper asks for what the paper's Algorithm 1 says (algorithm1).
	Paper Way = "paper"
	// Berth asks for what plan.Decide says, as the commands do.
	Berth Way = "berth"
	// Own has all jobs share the whole cluster from the beginning to the end: nobody else uses it, nothing is asked for and
	// nothing is planned. Needs Shared.
	Own Way = "own"
	// Rented runs each job, a bag, on machines that are rented for it: a point of the front (package plan/front), looked at again while
	// the job runs (package plan/rent). Needs Cloud.
	Rented Way = "rented"
)

// Adaptor is how elastic jobs come to the cluster.
type Adaptor struct {
	Way Way
	// Shared says that the jobs of a user have one coordinator, so that each may run on
	// allocations of the others, as they do in real life; else each is alone.
	Shared bool
	Order  sched.Order // of the jobs of a coordinator; the zero value is sched.FIFO here
	Yield  bool        // allocations are given back when their own job is done (engine.Config.Yield)
	// Scheduler is the policy that places tasks and phases on nodes; empty: sched.Cores.
	Scheduler sched.Scheduler
	Tuning    sched.Tuning // of it, for experiments
	// Rule is on tasks with paces that are too slow; nil: nothing is done about them.
	Rule straggler.Rule
	// Fixed has merges and sorts go by the buffers that Hadoop's tasks have (workload.Phased), whatever is granted; so it is under
	// the schedulers of others in any case.
	Fixed bool
	// Request switches parts of plan.Decide off: NoScout, MaxAllocs, WallTime.
	Request job.Request
	// Unknown says that there are no profiles, as for applications that never ran; else
	// there is one, of tasks drawn like those of the jobs, from so many earlier runs; 0 is 1.
	// The fewer, the more time berth asks for beyond what it expects (predict.Estimate.Spread).
	Unknown bool
	Runs    int
	// Of the way Rented: the choice is the cheapest in the deadline, or the fastest within the budget, or else the tipping point, where
	// Machines does not say how many there are of each type. Once says that it is not looked at again.
	Deadline time.Duration
	Budget   float64
	Machines []int
	Once     bool
	// Fewest has the way Paper take the smallest number of nodes within 1 % of the best.
	Fewest bool
	// Fast has runs on a single allocation list-scheduled instead of run by the engine,
	// where nothing can fail and no job shares: the same result, sooner.
	Fast bool
}

// Faults are what happens to nodes, drawn from the seed: times between are exponential.
type Faults struct {
	NodeMTBF time.Duration // a node fails so often on average, with what runs there; 0: never …
	Repair   time.Duration // … and is back after this long on average

	SlowMTBF time.Duration // a node becomes slow so often on average; 0: never …
	SlowFor  time.Duration // … for so long on average …
	SlowBy   float64       // … its tasks that begin in that time taking so many times as long

	TaskFails float64 // share of attempts that fail, half way through
}

// Result is what became of the jobs.
type Result struct {
	Rigid   []Outcome // as Config.Rigid
	Elastic []Outcome // as Config.Elastic
	// HeldRigid and HeldElastic are the node-seconds that jobs of each kind had nodes for;
	// Busy is the core-seconds in which a task of an elastic job ran that was done.
	HeldRigid, HeldElastic, Busy float64
	End                          job.Time // when the last job was done; the first Submit is the beginning
	Begin                        job.Time
	// Where phases contend: what was used of all nodes, and their energy in joules.
	Used   Use
	Energy float64
}

// Outcome is what became of a job.
type Outcome struct {
	Submit job.Time
	Start  job.Time // when it first had nodes; of an elastic job: when its first task began
	Finish job.Time
	Nodes  int  // rigid: that it had; elastic: of its first allocation
	Killed bool // rigid: at its limit; elastic: it failed
	Allocs int  // elastic: allocations that were asked for on its behalf
	Lost   int  // elastic: attempts that were cut short or failed
	// Where phases contend: what it used, without memory, and how many of its attempts of maps there were and had their splits
	// on their nodes.
	Used        Use
	Maps, Local int
	// Where tasks have paces: attempts that began beside another of their task, and how many of them were killed as that was
	// done first. Used.CPU is the work of all attempts, in seconds.
	Duplicates, Wasted int
	// Of rented machines: what they and the data cost, how many there were, how many of them the provider took away, and what was
	// predicted when they were chosen.
	Cost                  float64
	Rented, Interrupted   int
	Expected, ExpectedFor float64 // seconds, cost
}

// Turnaround returns the flow time in seconds.
func (o *Outcome) Turnaround() float64 { return o.Finish.Sub(o.Submit).Seconds() }

// Wait returns the seconds until the job began.
func (o *Outcome) Wait() float64 { return o.Start.Sub(o.Submit).Seconds() }

// Utilization returns the share of the nodes' time, from the first submission to the end of
// the last job, in which jobs had them (models.md, section 3).
func (r *Result) Utilization(nodes int) float64 {
	return (r.HeldRigid + r.HeldElastic) / (float64(nodes) * r.End.Sub(r.Begin).Seconds())
}
