// Package workload describes the jobs of simulated clusters: rigid jobs, as in logs of HPC clusters,
// and elastic jobs, which are MapReduce jobs and bags of tasks. Its generators draw both from
// published models (docs/models.md), and the packages below read logs:
//
//	jobs := workload.Drawn(workload.NewFacebook(workload.Facebook{}, rng).Next, 100, 0)
//
// The package is pure: generators get their random source as an argument, and the same source gives
// the same jobs on any machine. Times are rounded to milliseconds, so that the last bit of a
// logarithm, which differs between machines, has no effect.
package workload

import (
	"time"

	"berth/internal/core/job"
)

// Rigid is a job of an HPC cluster: a fixed number of nodes for some time.
type Rigid struct {
	ID      int64         // as in its log; counted from 1 in a generated workload
	User    int64         // who submitted the job; -1: unknown
	Submit  job.Time      // since the beginning of the workload
	Nodes   int           // number of nodes, at least 1
	Run     time.Duration // run time if nothing ends the job
	Request time.Duration // wall time, after which the job is killed; at least 1 ns
	// Partition is the place of the job's partition in those of a simulated cluster; 0: the default one.
	Partition int
}

func (r Rigid) submitted() job.Time   { return r.Submit }
func (e Elastic) submitted() job.Time { return e.Submit }

// Elastic is a MapReduce job or a bag of tasks, which runs on any number of nodes. Durations are
// those on a core of speed 1. The planner does not know them.
type Elastic struct {
	ID     int64
	App    string   // jobs with the same App share a profile
	User   int64    // who submitted the job
	Submit job.Time // since the beginning of the workload
	Due    job.Time // since the beginning of the workload: its deadline; 0: none
	After  int64    // ID of an earlier job that must have ended before this one is submitted; 0: none
	Bin    int      // of the Facebook mix, counted from 1; 0: none
	// Maps has the duration of each map, or task of a bag. Reduces has the duration of sort and
	// reduce of each reduce, after its shuffle. A job without Reduces is a bag.
	Maps, Reduces []time.Duration
	// FirstShuffle has the time that a shuffle lasts after the last map has ended if it began before
	// that; Shuffle has the duration of a shuffle that begins later. nil means that shuffles take no
	// time; otherwise there is a value for each reduce.
	FirstShuffle, Shuffle []time.Duration
	// Further are the needs of a bag's tasks that need more than a core, and Which says which tasks have which: 0 is a core, 1 the
	// first of Further. Tasks behind those of Which need a core.
	Further []job.Needs
	Which   []job.NeedsRun
}
