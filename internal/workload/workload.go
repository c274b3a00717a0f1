// Package workload holds what simulated clusters are given to do: rigid jobs as they are
// known from logs of HPC clusters, and MapReduce jobs and bags of tasks. Its generators
// draw both from published models (docs/models.md); packages below read logs.
//
// It is pure: generators take their random source as a value, and the same source gives
// the same jobs on any machine. Times are rounded to milliseconds, so that the last bit of
// a logarithm, which machines do not agree on, decides nothing.
package workload

import (
	"time"

	"berth/internal/job"
)

// Rigid is a job of an HPC cluster: so many nodes for so long, all at once.
type Rigid struct {
	ID      int64         // as in its log, from 1 in a generated workload
	User    int64         // who submitted it; -1: unknown
	Submit  job.Time      // since the beginning of the workload
	Nodes   int           // that it needs, at least 1
	Run     time.Duration // how long it runs when nothing ends it
	Request time.Duration // its wall time, at which it is killed; at least 1 ns
}

// Elastic is a MapReduce job or a bag of tasks: it runs on any number of nodes. The
// durations are those on a core of speed 1; who plans the job does not know them.
type Elastic struct {
	ID     int64
	App    string   // jobs of the same App share a profile
	User   int64    // whose it is
	Submit job.Time // since the beginning of the workload
	After  int64    // the ID of a job before it that must be over as well when it is submitted; 0: none
	Bin    int      // of the Facebook mix, from 1; 0: none
	// Maps is how long each map, or task of a bag, takes. Reduces is how long each reduce
	// sorts and reduces, after it has shuffled. No Reduces: a bag.
	Maps, Reduces []time.Duration
	// FirstShuffle is how much longer the shuffle of a reduce lasts after the last map has
	// ended, of one that began before; Shuffle is how long it lasts for one that began after.
	// nil: no time at all; otherwise as many as Reduces.
	FirstShuffle, Shuffle []time.Duration
	// Phased, if not nil, is what each task takes phase by phase: then how long a task lasts follows from what runs beside it,
	// and the times above are those at full speed.
	Phased *Phased
	// Paces, if not nil, is what each task counts while it runs; so tasks of a bag are seen to be late.
	Paces []Pace
}

// Work returns the core-seconds of all tasks.
func (e *Elastic) Work() float64 {
	sum := time.Duration(0)
	for _, ds := range [][]time.Duration{e.Maps, e.Reduces} {
		for _, d := range ds {
			sum += d
		}
	}
	return sum.Seconds()
}
