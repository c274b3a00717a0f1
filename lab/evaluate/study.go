package evaluate

import (
	"context"
	"fmt"
	"math"
	"time"

	"berth/internal/simulate/batch"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/bound"
	"berth/lab/repeat"
)

// Settings are the common settings of all experiments.
type Settings struct {
	Seed      uint64
	Nodes     int
	Policy    batch.Policy
	Precision float64       // sufficient half-width, as a fraction of the mean
	Limits    repeat.Limits // of replications
	Plain     bool          // plain averages, without control variates

	// Run simulates: sim.Run.
	Run func(context.Context, sim.Config) (*sim.Result, error)
	// Tell, if not nil, is called with the progress of the experiment.
	Tell func(Progress)
}

// Progress is the progress of an experiment.
type Progress struct {
	Study, Studies int     // loads that are complete, and all loads
	Name           string  // of the present load
	Known, Max     int     // its replications
	Relative       float64 // the widest half-width of its wanted means, as a fraction of the mean
}

// Share estimates the completed fraction of the experiment. It assumes that half-widths fall with
// the square root of the number of replications.
func (p Progress) Share(precision float64) float64 {
	need := min(math.Pow(p.Relative/precision, 2)*float64(p.Known), float64(p.Max))
	return (float64(p.Study) + min(1, float64(p.Known)/max(need, 1))) / float64(p.Studies)
}

// String formats the progress as one line.
func (p Progress) String() string {
	at := ""
	if p.Known > 1 {
		at = fmt.Sprintf(", ±%.1f %%", 100*p.Relative)
	}
	return fmt.Sprintf("%d of %d: %s, %d runs%s", p.Study+1, p.Studies, p.Name, p.Known, at)
}

// study is one load under several cases.
type study struct {
	load      string
	parameter string
	value     float64
	maxTime   time.Duration
	cases     []Case
	wanted    []Measure
	kept      []Measure // reported without a required precision
	exact     bool      // every replication is the same
	draw      generator
	// paper has the paper's figures, by case and measure.
	paper map[string]map[Measure]float64
}

// run replicates the studies one after another and returns their cells.
func (s *Settings) run(ctx context.Context, studies []study) ([]Cell, error) {
	var cells []Cell
	for n := range studies {
		st, limits := &studies[n], s.Limits
		if st.exact {
			limits.Min, limits.Max = 1, 1
		}
		enough := func(known []replication) bool {
			worst := st.worst(resultsOf(st, known))
			if s.Tell != nil {
				s.Tell(Progress{n, len(studies), st.load, len(known), limits.Max, worst})
			}
			return worst <= s.Precision
		}
		known, err := repeat.Run(ctx, limits, func(ctx context.Context, i int) (replication, error) { return s.replicate(ctx, st, i) }, enough)
		if err != nil {
			return nil, err
		}
		cells = append(cells, st.cells(resultsOf(st, known), s.Precision)...)
	}
	return cells, nil
}

// replicate runs one replication of all cases with the same jobs.
func (s *Settings) replicate(ctx context.Context, st *study, i int) (replication, error) {
	rigid, elastic := st.draw("", i)
	out := replication{cases: make([][]float64, len(st.cases))}
	for n, c := range st.cases {
		if c.bound {
			out.cases[n] = s.bounds(rigid, elastic)
			continue
		}
		cfg := sim.Config{
			Cluster: sim.Cluster{Nodes: s.Nodes, MaxTime: st.maxTime},
			Policy:  s.Policy, Rigid: rigid, Elastic: elastic, Adaptor: c.Adaptor, Seed: seedOf(s.Seed, i),
		}
		r, err := s.Run(ctx, cfg)
		if err != nil {
			return out, err
		}
		out.cases[n] = measure(&cfg, r)
	}
	if st.exact || !s.controlled() {
		return out, nil
	}
	var err error
	if out.controls, err = s.controls(ctx, rigid, elastic); err != nil {
		return out, err
	}
	out.pilots, err = s.pilot(ctx, st, i)
	return out, err
}

// bounds returns the lower bounds of any scheduler: for all jobs together, and for the jobs of each
// kind alone.
func (s *Settings) bounds(rigid []workload.Rigid, elastic []workload.Elastic) []float64 {
	values := make([]float64, len(measures))
	for i := range values {
		values[i] = math.NaN()
	}
	m := bound.NewMachine(s.Nodes, 0, nil)
	for jobs, b := range map[Jobs]bound.Bounds{AllJobs: m.Mean(rigid, elastic), HPCJobs: m.Mean(rigid, nil), MRJobs: m.Mean(nil, elastic)} {
		if b != (bound.Bounds{}) {
			values[index(Measure{Turnaround, jobs})] = b.Best()
		}
	}
	return values
}

// worst returns the widest relative half-width of the wanted means.
func (st *study) worst(known *results) float64 {
	worst := 0.0
	for c := range st.cases {
		for _, m := range st.wanted {
			e := known.mean(known.column(c, m))
			if e.N > 0 {
				worst = math.Max(worst, repeat.Relative(e))
			}
		}
	}
	return worst
}

// cells returns the cells of all cases: for each measure the mean, and the comparison with the naive
// case and the paper's.
func (st *study) cells(known *results, precision float64) []Cell {
	var cells []Cell
	for c := range st.cases {
		for i, m := range append(st.wanted[:len(st.wanted):len(st.wanted)], st.kept...) {
			values := known.column(c, m)
			e := known.mean(values)
			if e.N == 0 {
				continue
			}
			cell := Cell{
				Load: st.load, Parameter: st.parameter, Value: st.value, MaxTime: st.maxTime.Seconds(), Adaptor: st.cases[c].Name,
				Jobs: m.Jobs, Measure: m.Name, Mean: replicate.Round(e.Mean, m.digits()), HalfWidth: e.HalfWidth(m.digits()),
				Replications: e.N, Wanted: i < len(st.wanted), Reached: repeat.Within(e, precision),
			}
			if p, ok := st.paper[cell.Adaptor][m]; ok {
				cell.Paper = &p
			}
			cell.Under = st.under(known, c, m, values)
			cells = append(cells, cell)
		}
	}
	return cells
}

// under compares a case with the naive one and the paper's.
func (st *study) under(known *results, c int, m Measure, values []float64) []Under {
	if m.Name != Turnaround && m.Name != Slowdown {
		return nil
	}
	var out []Under
	for b, base := range st.cases {
		if b == c || base.Name != NaiveCase && base.Name != PaperCase || st.cases[c].Name == NaiveCase {
			continue
		}
		e := replicate.Reduction(values, known.column(b, m), known.mean)
		if e.N > 0 {
			out = append(out, Under{base.Name, replicate.Round(e.Mean, shareDigits), e.HalfWidth(shareDigits)})
		}
	}
	return out
}

// Digits after the decimal point: milliseconds, and a millionth of a fraction. The last bits of a
// sum, which may differ between machines, are not reported.
const (
	secondDigits = 3
	shareDigits  = 6
)

func (m Measure) digits() int {
	if m.Name == Turnaround || m.Name == Makespan {
		return secondDigits
	}
	return shareDigits
}
