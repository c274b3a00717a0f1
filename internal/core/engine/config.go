package engine

import (
	"cmp"
	"time"

	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

// Config holds the parameters of the engine. A zero field means its default.
type Config struct {
	// NodeTimeout is how long the engine waits for a node that does not answer before it gives up
	// the node and its map outputs. It must be longer than the lease after which workers
	// stop committing without a grant. Default 1 min.
	NodeTimeout time.Duration
	// Yield gives an allocation back when the job that requested it is over, even though others of its
	// pool could use it: they have their own. So jobs help each other to start sooner, but together
	// use no more of the cluster, and no earlier, than each would alone. Otherwise an allocation
	// stays as long as any job can use it.
	Yield bool
	// Trust says when a node becomes suspected. Default: after 5 failures in a row, for 1 min.
	Trust sched.Trust
	// MaxLost is how many attempts of a task may be lost before each further loss
	// counts as a failure, as a task that kills its workers must not run forever. Default 10.
	MaxLost int
	// MaxBadOutputs is how many outputs of one map may turn out damaged or unreachable
	// before the job is stopped, as a disk that damages its files must not keep a job
	// busy forever. Default 10.
	MaxBadOutputs int
	// Order is the order of the jobs of a pool. Default sched.Auto, which means the order Shortest on
	// batch systems.
	Order sched.Order
	// Scheduler is the policy that assigns tasks and their phases to nodes. Default sched.Cores. A
	// coordinator always sets it, to sched.Phases if its user names none.
	Scheduler *sched.Scheduler
	// Rule decides which running attempts are too slow, and what to do about them. Default straggler.Berth.
	Rule straggler.Rule
	// AssessEvery is the time between two assessments of running attempts. Default straggler.Interval.
	AssessEvery time.Duration
	// Behind is how many short tasks may be on a node behind one that runs there (behind.go), and Ahead how long they may wait.
	// Default 0: none is sent before it can begin.
	Behind int
	Ahead  time.Duration
	// Limits says how much all attempts together may use of what jobs share, by name (job.Uses).
	Limits map[string]int
	// AgeingShare is the share of a pool's cores by which a waiting job ages in the order
	// sched.Shortest. Default sched.AgeingShare.
	AgeingShare float64
}

func (c Config) withDefaults() Config {
	set(&c.NodeTimeout, time.Minute)
	set(&c.Trust.For, time.Minute)
	set(&c.Trust.After, 5)
	set(&c.AgeingShare, sched.AgeingShare)
	set(&c.Scheduler, sched.Cores)
	set(&c.Rule, straggler.Rule(straggler.Berth{}))
	set(&c.AssessEvery, straggler.Interval)
	set(&c.MaxLost, 10)
	set(&c.MaxBadOutputs, 10)
	return c
}

// set sets a field that has no value to its default.
func set[T comparable](field *T, byDefault T) {
	*field = cmp.Or(*field, byDefault)
}
