package engine

import (
	"time"

	"berth/internal/sched"
	"berth/internal/sched/straggler"
)

// Config holds the engine's bounds. A zero field takes its default.
type Config struct {
	// NodeTimeout is how long a node that does not answer is waited for before it and
	// what it holds are given up. It must be longer than the lease after which workers
	// stop committing without a grant. Default 1 min.
	NodeTimeout time.Duration
	// ClaimGrace is how long, after a resume, map outputs whose holder is unknown wait
	// to be claimed by nodes that have yet to join. Default 1 min.
	ClaimGrace time.Duration
	// Yield has an allocation given back when the job that it was asked for is over,
	// though others of its pool could go on using it: they have their own. So jobs help
	// each other to start sooner, but hold together no more of the cluster, and no earlier,
	// than each would alone. Otherwise an allocation stays as long as anybody can use it.
	Yield bool
	// Trust says when a node is kept away from. Default: 5 in a row, for 1 min.
	Trust sched.Trust
	// MaxLost is how many attempts of a task may get lost before each further one
	// counts as failed: a task that kills its workers must not go on for ever. Default 10.
	MaxLost int
	// MaxBadOutputs is how many outputs of one map may turn out damaged or unreachable
	// before the job is stopped: a disk that spoils all it holds must not keep a job
	// busy for ever. Default 10.
	MaxBadOutputs int
	// MaxUnproductive is how many allocations in a row that were asked for a job may end without any
	// of its attempts done before it fails. Default 3.
	MaxUnproductive int
	// PlanRetry is how long a job waits for another plan after one that came to nothing,
	// and, once for each but the first, after allocations that did. Default 1 min.
	PlanRetry time.Duration
	// Order is how the jobs of a pool come one after another. Default sched.Auto: pools of
	// batch systems go by the shortest.
	Order sched.Order
	// Scheduler is the policy by which tasks and their phases are placed on nodes. Default sched.Cores; a
	// coordinator always names one, sched.DefaultScheduler where its user does not.
	Scheduler sched.Scheduler
	// Tuning changes what a start is worth to the scheduler, for experiments.
	Tuning sched.Tuning
	// Rule says which running attempts are too slow, and what is to be done about them. Default straggler.Berth.
	Rule straggler.Rule
	// LookEvery is the time between two looks at running attempts. Default straggler.Interval.
	LookEvery time.Duration
	// AgeingShare is the share of a pool's cores whose work a job is forgiven while it waits in
	// the order sched.Shortest. Default sched.AgeingShare.
	AgeingShare float64
}

func (c Config) withDefaults() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration) {
		if *v == 0 {
			*v = time.Minute
		}
	}
	dur(&c.NodeTimeout)
	dur(&c.ClaimGrace)
	dur(&c.Trust.For)
	dur(&c.PlanRetry)
	def(&c.Trust.After, 5)
	if c.AgeingShare == 0 {
		c.AgeingShare = sched.AgeingShare
	}
	if c.Rule == nil {
		c.Rule = straggler.Berth{}
	}
	if c.LookEvery == 0 {
		c.LookEvery = straggler.Interval
	}
	def(&c.MaxLost, 10)
	def(&c.MaxBadOutputs, 10)
	def(&c.MaxUnproductive, 3)
	return c
}
