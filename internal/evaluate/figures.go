package evaluate

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"
)

// What sweeps vary.
const (
	hpcInterarrival = "hpc_interarrival_s"
	mrInterarrival  = "mr_interarrival_s"
	binNumber       = "bin"
)

// Sweep is what Fig4 and Variants are of.
type Sweep struct {
	Mix
	MaxTime time.Duration   // the queue's maximum, 0 for none
	Shapes  []float64       // Fig4: of the gamma distribution between HPC jobs
	Everies []time.Duration // mean times between MapReduce jobs
}

// Bins is what Fig3 is of.
type Bins struct {
	Mix
	MaxTime time.Duration
	// Alone has each bin be an experiment of its own, all MapReduce jobs being of it; else
	// the bins are told apart within the mix. NoHPC leaves the HPC jobs out.
	Alone, NoHPC bool
}

// Fig3 is the paper's figure 3: the mean turnaround of each bin of the Facebook mix.
func (s Settings) Fig3(ctx context.Context, b Bins) (*Report, error) {
	r := &Report{Experiment: "fig3", Workload: []string{b.MR.text()}, title: "Figure 3: MapReduce jobs by their size", cases: b.Cases}
	l := load{onlyMR, nil, &b.MR}
	if !b.NoHPC {
		l = load{mixed, &b.HPC, &b.MR}
		r.Workload = slices.Insert(r.Workload, 0, b.HPC.text())
	}
	var studies []study
	if b.Alone {
		r.Workload = append(r.Workload, "each bin by itself")
		for n := 1; n <= bins; n++ {
			mr := b.MR
			mr.Bin = n
			st := s.study(load{l.name, l.hpc, &mr}, b.MaxTime, b.Cases)
			st.wanted, st.parameter, st.value = []Measure{{Turnaround, Bin(n)}}, binNumber, float64(n)
			studies = append(studies, st)
		}
	} else {
		st := s.study(l, b.MaxTime, b.Cases)
		st.wanted, st.kept = nil, nil
		for n := 1; n <= bins; n++ {
			st.wanted = append(st.wanted, Measure{Turnaround, Bin(n)})
		}
		studies = []study{st}
	}
	if _, err := s.report(ctx, studies, r); err != nil {
		return nil, err
	}
	byBin(r)
	return r, nil
}

// byBin orders the cells by bin, which becomes their parameter.
func byBin(r *Report) {
	for i := range r.Cells {
		for n := 1; n <= bins; n++ {
			if r.Cells[i].Jobs == Bin(n) {
				r.Cells[i].Parameter, r.Cells[i].Value = binNumber, float64(n)
			}
		}
	}
	slices.SortStableFunc(r.Cells, func(a, b Cell) int { return int(a.Value - b.Value) })
}

// Fig4 is the paper's figure 4: the mix under other loads, (a) of HPC and (b) of MapReduce jobs.
func (s Settings) Fig4(ctx context.Context, w Sweep) (*Report, error) {
	var studies []study
	for _, shape := range w.Shapes {
		hpc := w.HPC
		hpc.Shape = shape
		st := s.study(load{mixed, &hpc, &w.MR}, w.MaxTime, w.Cases)
		st.parameter, st.value = hpcInterarrival, roundTo(shape*PeakScale, secondDigits)
		studies = append(studies, st)
	}
	for _, every := range w.Everies {
		studies = append(studies, s.every(w, every, true))
	}
	return s.report(ctx, studies, &Report{
		Experiment: "fig4", Workload: []string{w.HPC.text(), w.MR.text()}, title: "Figure 4: the mix under other loads", cases: w.Cases,
	})
}

// every returns the study of a load with that mean time between MapReduce jobs.
func (s *Settings) every(w Sweep, every time.Duration, hpc bool) study {
	mr := w.MR
	mr.Every = every
	l := load{onlyMR, nil, &mr}
	if hpc {
		l = load{mixed, &w.HPC, &mr}
	}
	st := s.study(l, w.MaxTime, w.Cases)
	st.parameter, st.value = mrInterarrival, every.Seconds()
	return st
}

// Variants compares ways to bring MapReduce jobs to the cluster under many loads, alone and
// with HPC jobs.
func (s Settings) Variants(ctx context.Context, w Sweep) (*Report, error) {
	var studies []study
	for _, hpc := range []bool{false, true} {
		for _, every := range w.Everies {
			studies = append(studies, s.every(w, every, hpc))
		}
	}
	return s.report(ctx, studies, &Report{
		Experiment: "variants", Workload: []string{w.HPC.text(), w.MR.text()}, title: "Variants of the adaptor", cases: w.Cases,
	})
}

// What axes have beneath them.
const hpcEvery, mrEvery = "mean inter-arrival, HPC (s)", "mean inter-arrival, MR (s)"

// Figure draws the report; nil where it is a table and no more.
func (r *Report) Figure() *Figure {
	f := &Figure{}
	switch r.Experiment {
	case "fig3":
		f.panels = r.binPanels()
	case "fig4":
		f.panels = r.loadPanels()
	case "variants":
		f.panels = [][]panel{{
			r.panel("MapReduce jobs alone", mrEvery, turnaroundOf(onlyMR, mrInterarrival, MRJobs)),
			r.panel("MapReduce jobs in the mix", mrEvery, turnaroundOf(mixed, mrInterarrival, MRJobs)),
			r.panel("HPC jobs in the mix", mrEvery, turnaroundOf(mixed, mrInterarrival, HPCJobs)),
		}}
	default:
		return nil
	}
	for _, c := range r.cases {
		f.names, f.styles = append(f.names, c.Label), append(f.styles, styleOf(c.Name))
	}
	for i := range f.panels {
		for j := range f.panels[i][1:] {
			f.panels[i][j+1].y = "" // as that of the first
		}
	}
	return f
}

// binPanels is figure 3: the bins side by side.
func (r *Report) binPanels() [][]panel {
	p := r.panel("", "bin of the Facebook mix", func(c *Cell) bool { return c.Wanted })
	for n := range bins {
		p.ticks = append(p.ticks, strconv.Itoa(n+1))
	}
	return [][]panel{{p}}
}

// loadPanels is figure 4: a row for its part (a) and one for (b), as far as there are any.
func (r *Report) loadPanels() [][]panel {
	var rows [][]panel
	for _, part := range []struct{ name, x, mark string }{{hpcInterarrival, hpcEvery, "(a) "}, {mrInterarrival, mrEvery, "(b) "}} {
		of := func(title string, jobs Jobs) panel {
			return r.panel(part.mark+title, part.x, turnaroundOf(mixed, part.name, jobs))
		}
		row := []panel{of("MapReduce jobs", MRJobs), of("HPC jobs", HPCJobs), of("all jobs", AllJobs)}
		if len(row[0].curves) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func turnaroundOf(load, parameter string, jobs Jobs) func(*Cell) bool {
	return func(c *Cell) bool {
		return c.Load == load && c.Parameter == parameter && c.Jobs == jobs && c.Measure == Turnaround
	}
}

// spread is the ratio of means from which an axis is logarithmic.
const spread = 15

// panel draws the cells that belong to it, a curve for each case.
func (r *Report) panel(title, x string, belongs func(*Cell) bool) panel {
	p := panel{title: title, x: x, y: "mean turnaround (s)"}
	low, high := math.Inf(1), 0.0
	for n, c := range r.cases {
		one := curve{style: n}
		for i := range r.Cells {
			cell := &r.Cells[i]
			if cell.Adaptor != c.Name || !belongs(cell) {
				continue
			}
			pt := point{x: cell.Value, y: cell.Mean}
			if cell.HalfWidth != nil {
				pt.half = *cell.HalfWidth
			}
			one.points = append(one.points, pt)
			low, high = min(low, pt.y), max(high, pt.y)
		}
		if len(one.points) > 0 {
			slices.SortFunc(one.points, func(a, b point) int { return int(math.Copysign(1, a.x-b.x)) })
			p.curves = append(p.curves, one)
		}
	}
	p.log = low > 0 && high/low > spread
	return p
}
