package evaluate

import (
	"fmt"
	"math"
	"strconv"

	"berth/internal/simulate/sim"
	"berth/lab/loads"
	"berth/lab/metrics"
)

// Measure is a quantity that is measured in a simulation, and the jobs over which it is taken.
type Measure struct {
	Name string // "turnaround_s", "utilization", …
	Jobs Jobs
}

// Jobs names the jobs of a measure: AllJobs, HPCJobs, MRJobs or the result of Bin.
type Jobs string

// The sets of jobs.
const (
	AllJobs Jobs = "all"
	HPCJobs Jobs = "hpc" // rigid
	MRJobs  Jobs = "mr"  // elastic
)

// Bin names the MapReduce jobs of a bin of the Facebook mix, counted from 1.
func Bin(n int) Jobs { return Jobs("bin " + strconv.Itoa(n)) }

// bins is the number of bins of the Facebook mix.
const bins = 9

// The names of measures (lab/experiments.md).
const (
	Turnaround  = "turnaround_s" // mean flow time
	Slowdown    = "ave_bsld"     // mean bounded slowdown
	Utilization = "utilization"  // fraction of the node-time that was allocated to jobs
	Makespan    = "makespan_s"
	Allocations = "allocations" // requested per job
	Failed      = "failed"      // jobs that failed or were killed
	LostWork    = "lost_work"   // fraction of the core-seconds worked that was for attempts which were not done
)

// measures are all measures, in the order of the values of a sample.
var measures = func() []Measure {
	ms := []Measure{
		{Turnaround, AllJobs}, {Turnaround, HPCJobs}, {Turnaround, MRJobs}, {Utilization, AllJobs}, {Makespan, AllJobs},
		{Slowdown, HPCJobs}, {Allocations, MRJobs}, {Failed, HPCJobs}, {Failed, MRJobs}, {LostWork, MRJobs},
	}
	for b := 1; b <= bins; b++ {
		ms = append(ms, Measure{Turnaround, Bin(b)}, Measure{LostWork, Bin(b)})
	}
	return ms
}()

// index returns the position of a measure in a sample.
func index(m Measure) int {
	for i, o := range measures {
		if o == m {
			return i
		}
	}
	panic(fmt.Sprintf("evaluate: no measure %v", m))
}

// average accumulates a mean, which is NaN without values.
type average struct {
	sum float64
	n   int
}

func (a *average) add(v float64) { a.sum += v; a.n++ }

func (a *average) value() float64 {
	if a.n == 0 {
		return math.NaN()
	}
	return a.sum / float64(a.n)
}

// measure returns the values of all measures in a simulation. A value is NaN if there are no such
// jobs.
func measure(cfg *sim.Config, r *sim.Result) []float64 {
	by := make(map[Measure]*average, len(measures))
	for _, m := range measures {
		by[m] = &average{}
	}
	count := func(o *sim.Outcome, kinds ...Jobs) {
		for _, k := range append(kinds, AllJobs) {
			by[Measure{Turnaround, k}].add(o.Turnaround())
		}
		failed := by[Measure{Failed, kinds[0]}]
		failed.n = 1 // a count, not a mean
		if o.Killed {
			failed.sum++
		}
	}
	for i := range r.Rigid {
		o := &r.Rigid[i]
		count(o, HPCJobs)
		by[Measure{Slowdown, HPCJobs}].add(metrics.BSLD(o.Submit, o.Start, o.Finish))
	}
	lost, worked := make(map[Jobs]float64), make(map[Jobs]float64)
	for i := range r.Elastic {
		o, kinds := &r.Elastic[i], []Jobs{MRJobs}
		if b := cfg.Elastic[i].Bin; b >= 1 && b <= bins {
			kinds = append(kinds, Bin(b))
		}
		count(o, kinds...)
		by[Measure{Allocations, MRJobs}].add(float64(o.Allocs))
		for _, k := range kinds {
			lost[k] += o.LostWork
			worked[k] += o.LostWork + loads.Work(&cfg.Elastic[i])
		}
	}
	for k := range worked {
		by[Measure{LostWork, k}].add(lost[k] / worked[k])
	}
	by[Measure{Utilization, AllJobs}].add(r.Utilization(cfg.Cluster.Nodes))
	by[Measure{Makespan, AllJobs}].add(r.End.Sub(r.Begin).Seconds())
	values := make([]float64, len(measures))
	for i, m := range measures {
		values[i] = by[m].value()
	}
	return values
}
