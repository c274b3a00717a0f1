package evaluate

import (
	"fmt"
	"math"
	"strconv"

	"berth/internal/sim"
	"berth/internal/sim/metrics"
)

// Measure is what is measured in a simulation, of which jobs.
type Measure struct {
	Name string // "turnaround_s", "utilization", …
	Jobs Jobs
}

// Jobs says which jobs a measure is of: AllJobs, HPCJobs, MRJobs or what Bin returns.
type Jobs string

// Which jobs.
const (
	AllJobs Jobs = "all"
	HPCJobs Jobs = "hpc" // rigid
	MRJobs  Jobs = "mr"  // elastic
)

// Bin returns the MapReduce jobs of a bin of the Facebook mix, from 1.
func Bin(n int) Jobs { return Jobs("bin " + strconv.Itoa(n)) }

// bins is the number of bins of the Facebook mix.
const bins = 9

// Names of measures (models.md, section 3, "Metrics").
const (
	Turnaround  = "turnaround_s" // mean flow time
	Slowdown    = "ave_bsld"     // mean bounded slowdown
	Utilization = "utilization"  // share of the nodes' time in which jobs had them
	Makespan    = "makespan_s"
	Allocations = "allocations" // asked for, a job
	Failed      = "failed"      // jobs that failed or were killed
)

// measures are all that there are, in the order of a sample's values.
var measures = func() []Measure {
	ms := []Measure{
		{Turnaround, AllJobs}, {Turnaround, HPCJobs}, {Turnaround, MRJobs}, {Utilization, AllJobs}, {Makespan, AllJobs},
		{Slowdown, HPCJobs}, {Allocations, MRJobs}, {Failed, HPCJobs}, {Failed, MRJobs},
	}
	for b := 1; b <= bins; b++ {
		ms = append(ms, Measure{Turnaround, Bin(b)})
	}
	return ms
}()

// index returns where a measure stands in a sample.
func index(m Measure) int {
	for i, o := range measures {
		if o == m {
			return i
		}
	}
	panic(fmt.Sprintf("evaluate: no measure %v", m))
}

// average is a mean in the making; NaN of nothing.
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

// measure returns the values of measures in a simulation; NaN of jobs that there are none of.
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
		failed.n = 1 // a count, no mean
		if o.Killed {
			failed.sum++
		}
	}
	for i := range r.Rigid {
		o := &r.Rigid[i]
		count(o, HPCJobs)
		by[Measure{Slowdown, HPCJobs}].add(metrics.BSLD(o.Submit, o.Start, o.Finish))
	}
	for i := range r.Elastic {
		o, kinds := &r.Elastic[i], []Jobs{MRJobs}
		if b := cfg.Elastic[i].Bin; b >= 1 && b <= bins {
			kinds = append(kinds, Bin(b))
		}
		count(o, kinds...)
		by[Measure{Allocations, MRJobs}].add(float64(o.Allocs))
	}
	by[Measure{Utilization, AllJobs}].add(r.Utilization(cfg.Cluster.Nodes))
	by[Measure{Makespan, AllJobs}].add(r.End.Sub(r.Begin).Seconds())
	values := make([]float64, len(measures))
	for i, m := range measures {
		values[i] = by[m].value()
	}
	return values
}
