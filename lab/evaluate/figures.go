package evaluate

import (
	"context"
	"slices"
	"time"

	"berth/internal/simulate/replicate"
)

// The parameters that sweeps vary.
const (
	HPCInterarrival = "hpc_interarrival_s"
	MRInterarrival  = "mr_interarrival_s"
	binNumber       = "bin"
)

// Sweep is the input of Fig4 and Variants.
type Sweep struct {
	Mix
	MaxTime time.Duration   // the queue's maximum wall time; 0: none
	Shapes  []float64       // Fig4: shapes of the gamma distribution of the times between HPC jobs
	Everies []time.Duration // mean times between MapReduce jobs
}

// Bins is the input of Fig3.
type Bins struct {
	Mix
	MaxTime time.Duration
	// Alone makes each bin an experiment of its own, with MapReduce jobs of this bin only. Otherwise
	// the bins are separated within the mix. NoHPC omits the HPC jobs.
	Alone, NoHPC bool
	Only         int // Alone: the number of the only bin to simulate; 0: all
}

// Fig3 is the paper's figure 3: the mean turnaround for each bin of the Facebook mix.
func (s Settings) Fig3(ctx context.Context, b Bins) (*Report, error) {
	r := &Report{Experiment: "fig3", Workload: []string{b.MR.text()}, title: "Figure 3: MapReduce jobs by their size", Cases: b.Cases}
	l := load{OnlyMR, nil, &b.MR}
	if !b.NoHPC {
		l = load{Mixed, &b.HPC, &b.MR}
		r.Workload = slices.Insert(r.Workload, 0, b.HPC.text())
	}
	var studies []study
	if b.Alone {
		r.Workload = append(r.Workload, "each bin by itself")
		for n := 1; n <= bins; n++ {
			if b.Only != 0 && n != b.Only {
				continue
			}
			mr := b.MR
			mr.Bin = n
			st := s.study(load{l.name, l.hpc, &mr}, b.MaxTime, b.Cases)
			st.wanted, st.parameter, st.value = []Measure{{Turnaround, Bin(n)}}, binNumber, float64(n)
			st.kept = append(st.kept, Measure{LostWork, Bin(n)})
			studies = append(studies, st)
		}
	} else {
		st := s.study(l, b.MaxTime, b.Cases)
		st.wanted, st.kept = nil, nil
		for n := 1; n <= bins; n++ {
			st.wanted, st.kept = append(st.wanted, Measure{Turnaround, Bin(n)}), append(st.kept, Measure{LostWork, Bin(n)})
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

// Fig4 is the paper's figure 4: the mix under other loads of (a) HPC and (b) MapReduce jobs.
func (s Settings) Fig4(ctx context.Context, w Sweep) (*Report, error) {
	var studies []study
	for _, shape := range w.Shapes {
		hpc := w.HPC
		hpc.Shape = shape
		st := s.study(load{Mixed, &hpc, &w.MR}, w.MaxTime, w.Cases)
		st.parameter, st.value = HPCInterarrival, replicate.Round(shape*PeakScale, secondDigits)
		studies = append(studies, st)
	}
	for _, every := range w.Everies {
		studies = append(studies, s.every(w, every, true))
	}
	return s.report(ctx, studies, &Report{
		Experiment: "fig4", Workload: []string{w.HPC.text(), w.MR.text()}, title: "Figure 4: the mix under other loads", Cases: w.Cases,
	})
}

// every returns the study of a load with the given mean time between MapReduce jobs.
func (s *Settings) every(w Sweep, every time.Duration, hpc bool) study {
	mr := w.MR
	mr.Every = every
	l := load{OnlyMR, nil, &mr}
	if hpc {
		l = load{Mixed, &w.HPC, &mr}
	}
	st := s.study(l, w.MaxTime, w.Cases)
	st.parameter, st.value = MRInterarrival, every.Seconds()
	return st
}

// Variants compares adaptors under several loads of MapReduce jobs, alone and with HPC jobs.
func (s Settings) Variants(ctx context.Context, w Sweep) (*Report, error) {
	var studies []study
	for _, hpc := range []bool{false, true} {
		for _, every := range w.Everies {
			studies = append(studies, s.every(w, every, hpc))
		}
	}
	return s.report(ctx, studies, &Report{
		Experiment: "variants", Workload: []string{w.HPC.text(), w.MR.text()}, title: "Variants of the adaptor", Cases: w.Cases,
	})
}
