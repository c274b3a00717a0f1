// Package sim simulates whole workloads on a cluster, in virtual time. Rigid jobs go to the batch
// system unchanged. MapReduce jobs and bags pass through the packages that also run them for real:
// plan reads the simulated queue, engine runs the tasks in simulated allocations, and sched orders
// them. The simulator draws durations and failures, and reports them to the engine as drivers and
// workers do:
//
//	result, err := sim.Run(ctx, sim.Config{Cluster: sim.Cluster{Nodes: 64}, Policy: batch.EASY, Elastic: jobs,
//		Adaptor: sim.Adaptor{Way: sim.Berth}})
//
// A simulation is a function of its Config: the same Config gives the same Result. The package must
// not use a clock, files, goroutines or a global random source.
package sim

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
	"berth/internal/core/starts"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// Config is the complete input of a simulation.
type Config struct {
	Cluster Cluster
	Cloud   *Cloud // nil: no machines can be rented
	Policy  batch.Policy
	Rigid   []workload.Rigid   // in the order of Submit
	Elastic []workload.Elastic // in the order of Submit
	Adaptor Adaptor            // how the elastic jobs request nodes
	Faults  Faults
	Seed    uint64 // for the failures and the samples of the profiles
	// Past is the jobs that ended before the workload begins, of which Adaptor.History plans, too.
	Past []starts.Ended
	// Physics, if not nil, gives attempts other courses than the durations of the jobs. It serves one simulation.
	Physics Physics
}

// Cluster is the simulated cluster, of whole nodes.
type Cluster struct {
	Nodes int
	// Partitions are the parts of the nodes that have queues of their own, the default one first; nil: all nodes are one with MaxTime.
	Partitions []Partition
	// Cores is the number of cores of a node; 0 means 1. A task needs one core, unless its job says otherwise (workload.Elastic.Further).
	// As in the paper, with one map slot and one reduce slot a node, the maps and the reduces of a
	// job do not compute at the same time, and while maps run one reduce for each core shuffles
	// ahead.
	Cores   int
	Memory  int64         // bytes of each node; 0: tasks need none
	Speeds  []float64     // speed of each node's cores; nil: all 1
	MaxTime time.Duration // the longest wall time of an elastic job; 0: unlimited
	StartUp time.Duration // time from the start of an allocation until its workers have connected
	Grain   time.Duration // unit to which berth rounds up wall times; 0: a second
	// Kinds describes each node if they are not alike. Cores and Memory are what each of them has at least then.
	Kinds []Kind
}

// Kind is what a node has, and the name of its type.
type Kind struct {
	Capacity job.Resources
	Type     string
}

// Way names the method that chooses the nodes and the wall time of a MapReduce job or bag.
type Way string

// The ways.
const (
	// Naive requests as many nodes as there are maps or reduces, for the longest time allowed: the
	// baseline of the paper "mr-job-adaptor", section 4.
	Naive Way = "naive"
	// Paper requests what Algorithm 1 of the paper computes (see algorithm1).
	Paper Way = "paper"
	// Berth requests what plan.Decide computes, as the commands do.
	Berth Way = "berth"
	// Rented runs each job, a bag, on machines that are rented for it. The machines are a point of
	// the front (package plan/front), which is checked again while the job runs (package plan/rent).
	// Rented needs Cloud.
	Rented Way = "rented"
)

// Among is a way to choose one of several partitions.
type Among string

// The ways.
const (
	AmongAll     Among = "all"     // the request waits in all of them, until one has its nodes
	AmongSoonest Among = "soonest" // it goes where the batch system says that it starts first
)

// Adaptor says how elastic jobs request nodes and how their tasks are scheduled.
type Adaptor struct {
	Way Way
	// Shared says that all jobs of a user have one coordinator, as in real use, so that a job may
	// run on allocations of the others. Otherwise each job has a coordinator of its own.
	Shared bool
	Order  sched.Order // order of the jobs of a coordinator; the zero value means sched.FIFO here
	Yield  bool        // an allocation is released when its own job has ended (engine.Config.Yield)
	// History plans by how long jobs have really run.
	History bool
	// Scheduler is the policy that assigns tasks and phases to nodes; nil means sched.Cores.
	Scheduler *sched.Scheduler
	// Rule handles stragglers; nil means that nothing is done about them.
	Rule straggler.Rule
	// Change, if not nil, changes each plan of the ways Naive and Paper.
	Change func(*workload.Elastic, *plan.Plan)
	// Request switches parts of plan.Decide off: NoScout, MaxAllocs, WallTime. Partition may be any.
	Request job.Request
	// Among says how a request of a fixed size chooses from the partitions that Request.Partition lists; empty: as plan.Decide does.
	Among Among
	// Unknown says that no application has a profile. Otherwise each profile comes from Runs earlier
	// runs (0 means 1) of tasks drawn like those of the jobs. With fewer runs berth requests a
	// larger margin of time (predict.Estimate.Spread).
	Unknown bool
	Runs    int
	// The following fields belong to the way Rented. If Machines gives the number of machines of
	// each type, these are rented. Otherwise the choice is the cheapest point that meets Deadline,
	// the fastest within Budget, or the tipping point if neither is set. Once says that the choice
	// is not checked again.
	Deadline time.Duration
	Budget   float64
	Machines []int
	Once     bool
	// Largest plans each job as if all of its tasks needed as much as the largest of them. The tasks run with their own needs.
	Largest bool
	// Fewest makes the way Paper use the smallest number of nodes within 1 % of the best turnaround.
	Fewest bool
}

// Faults are the failures and slow times of nodes, drawn from the seed. Times between them are
// exponentially distributed.
type Faults struct {
	NodeMTBF time.Duration // mean time between failures of a node, which end what runs on it; 0: no failures
	Repair   time.Duration // mean time until a failed node is repaired

	SlowMTBF time.Duration // mean time until a node becomes slow; 0: never
	SlowFor  time.Duration // mean time for which a node is slow
	SlowBy   float64       // factor by which tasks take longer that begin while the node is slow

	TaskFails float64 // fraction of attempts that fail, after half of their computing time
}

// Result is the outcome of a simulation.
type Result struct {
	Rigid   []Outcome // in the order of Config.Rigid
	Elastic []Outcome // in the order of Config.Elastic
	// HeldRigid and HeldElastic are the node-seconds that the jobs of each kind had allocated. Busy
	// is the core-seconds of the attempts of elastic jobs that succeeded.
	HeldRigid, HeldElastic, Busy float64
	End                          job.Time // when the last job ended; Begin is the first Submit
	Begin                        job.Time
}

// Outcome is the outcome of one job.
type Outcome struct {
	Submit job.Time
	Start  job.Time // rigid: when the job first had nodes; elastic: when its first task began
	Finish job.Time
	Nodes  int  // rigid: the job's nodes; elastic: the nodes of its first allocation
	Killed bool // rigid: killed at its wall time; elastic: failed
	Allocs int  // elastic: number of allocations requested for the job
	Lost   int  // elastic: number of attempts that were lost or failed
	// LostWork is the core-seconds of the attempts of an elastic job that were not done. A shuffle needs no core.
	LostWork float64
	// Cost is the cost of the rented machines and the data. Rented is the number of machines, and
	// Interrupted the number of those that the provider took away. Expected (seconds) and
	// ExpectedFor (cost) were predicted when the machines were chosen.
	Cost                  float64
	Rented, Interrupted   int
	Expected, ExpectedFor float64 // seconds, cost
}

// Turnaround returns the time from submission to end, in seconds.
func (o *Outcome) Turnaround() float64 { return o.Finish.Sub(o.Submit).Seconds() }

// tau is the bound of the bounded slowdown: shorter jobs count as if they ran for tau.
const tau = 10 * time.Second

// BSLD returns the bounded slowdown.
func (o *Outcome) BSLD() float64 {
	return max(1, o.Turnaround()/max(o.Finish.Sub(o.Start), tau).Seconds())
}

// Wait returns the time from submission to start, in seconds.
func (o *Outcome) Wait() float64 { return o.Start.Sub(o.Submit).Seconds() }

// Utilization returns the fraction of all node-time, from the first submission to the end of the
// last job, that was allocated to jobs.
func (r *Result) Utilization(nodes int) float64 {
	return (r.HeldRigid + r.HeldElastic) / (float64(nodes) * r.End.Sub(r.Begin).Seconds())
}
