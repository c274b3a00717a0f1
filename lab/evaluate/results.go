package evaluate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// replication is the result of one replication of a study.
type replication struct {
	cases    [][]float64 // the values of all measures, by case
	controls []float64   // the controls of its load, or nil
	pilots   []float64   // the sums of the controls of its pilots
}

const (
	// pilots is the number of further loads that are drawn for each replication to compute their
	// controls. All together take about as long as the replication.
	pilots = 30
	// leastControlled is the number of replications from which on controls are used. A regression on
	// fewer is not reliable.
	leastControlled = 20
)

// controlled reports whether controls are used if the replications are random.
func (s *Settings) controlled() bool { return !s.Plain && s.Limits.Max >= leastControlled }

// pilot returns the sums of the controls of the pilots of the i-th replication.
func (s *Settings) pilot(ctx context.Context, st *study, i int) ([]float64, error) {
	var sums []float64
	for n := range pilots {
		rigid, elastic := st.draw("pilot ", pilots*i+n)
		values, err := s.controls(ctx, rigid, elastic)
		if err != nil {
			return nil, err
		}
		if sums == nil {
			sums = make([]float64, len(values))
		}
		floats.Add(sums, values)
	}
	return sums, nil
}

// controls returns the controls of a load: the mean turnaround of its HPC jobs alone, and the lower
// bounds of any scheduler for each kind of jobs alone and for all together. A value is 0 if there
// are no such jobs.
func (s *Settings) controls(ctx context.Context, rigid []workload.Rigid, elastic []workload.Elastic) ([]float64, error) {
	var alone float64
	if len(rigid) > 0 {
		cfg := sim.Config{Cluster: sim.Cluster{Nodes: s.Nodes}, Policy: s.Policy, Rigid: rigid}
		r, err := s.Run(ctx, cfg)
		if err != nil {
			return nil, err
		}
		alone = measure(&cfg, r)[index(ofHPC)]
	}
	values := []float64{alone}
	bounds := s.bounds(rigid, elastic)
	for _, m := range []Measure{ofHPC, ofMR, ofAll} {
		v := bounds[index(m)]
		if math.IsNaN(v) {
			v = 0
		}
		values = append(values, v)
	}
	return values, nil
}

// results are the results of all replications of a study.
type results struct {
	replications []replication
	controls     *controls // nil: means are plain averages
	exact        bool      // every replication is the same
}

func resultsOf(st *study, known []replication) *results {
	r := &results{replications: known, exact: st.exact}
	if len(known) < leastControlled || known[0].controls == nil {
		return r
	}
	rows, sums := make([][]float64, len(known)), make([]float64, len(known[0].controls))
	for i := range known {
		rows[i] = known[i].controls
		floats.Add(sums, known[i].pilots)
	}
	r.controls = newControls(rows, sums, pilots*len(known))
	return r
}

// column returns the values of a measure under a case, by replication.
func (r *results) column(c int, m Measure) []float64 {
	values, n := make([]float64, len(r.replications)), index(m)
	for i := range values {
		values[i] = r.replications[i].cases[c][n]
	}
	return values
}

// mean estimates the mean of values, one for each replication. If a value is missing (NaN), or all
// values are equal, it does not use controls.
func (r *results) mean(values []float64) replicate.Estimate {
	if r.controls != nil && !r.exact && !slices.ContainsFunc(values, math.IsNaN) {
		return r.controls.mean(values)
	}
	e := replicate.Mean(values)
	if r.exact && e.N > 0 {
		e.Half = 0
	}
	return e
}
