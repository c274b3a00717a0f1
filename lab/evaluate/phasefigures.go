package evaluate

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
	"berth/lab/physics"
)

// phaseFigures are the figures of one simulation.
type phaseFigures struct {
	completion, makespan float64 // seconds
	used                 [4]float64
	unfairness, energy   float64
	locality             float64
	failed               float64
	completions          []PhaseCompletion
}

// total returns the capacity of all nodes for one second: core-seconds at speed 1, byte-seconds of
// memory, bytes of disk and network.
func total(nodes []physics.Hardware) (all physics.Use) {
	for i := range nodes {
		h := &nodes[i]
		all.CPU += float64(float64(h.Capacity.CPUs) * h.Speed)
		all.Memory += float64(h.Capacity.Mem)
		all.Disk += float64(h.Capacity.Disk)
		all.Net += float64(h.Capacity.Net)
	}
	return all
}

func figuresOf(p *physics.Phases, all physics.Use, r *sim.Result) phaseFigures {
	span := r.End.Sub(r.Begin).Seconds()
	f := phaseFigures{makespan: span, energy: p.Energy, unfairness: unfairness(r.Elastic, p.Of, all)}
	f.used = [4]float64{p.Used.CPU / (all.CPU * span), p.Used.Memory / (all.Memory * span), p.Used.Disk / (all.Disk * span), p.Used.Net / (all.Net * span)}
	maps, local := 0, 0
	for i := range r.Elastic {
		o := &r.Elastic[i]
		f.completion += o.Turnaround() / float64(len(r.Elastic))
		f.completions = append(f.completions, PhaseCompletion{p.Jobs[i].App, replicate.Round(o.Turnaround(), secondDigits)})
		maps, local = maps+p.Of[i].Maps, local+p.Of[i].Local
		if o.Killed {
			f.failed++
		}
	}
	f.locality = float64(local) / float64(max(1, maps))
	return f
}

// unfairness returns the mean over the jobs of max(0, deficit)/work. A job's work is its fraction of
// the cluster's dominant resource, times seconds (Ghodsi et al., NSDI 2011). Memory does not count,
// because a delayed task occupies memory for longer without benefit. A job's deficit is its fair
// share, 1/(number of unfinished jobs), integrated over the seconds from its submission to its end,
// less its work, as in Hadoop's fair scheduler (docs/models.md).
func unfairness(jobs []sim.Outcome, used []physics.JobUse, all physics.Use) float64 {
	fair := fairTimes(jobs)
	sum := 0.0
	for i := range jobs {
		u := &used[i]
		work := max(u.CPU/all.CPU, u.Disk/all.Disk, u.Net/all.Net)
		if work > 0 {
			sum += max(0, fair[i]-work) / work
		}
	}
	return sum / float64(max(1, len(jobs)))
}

// fairTimes returns each job's fair share of the cluster, integrated over its life in seconds.
func fairTimes(jobs []sim.Outcome) []float64 {
	type change struct {
		at   float64
		job  int
		ends bool
	}
	var changes []change
	for i := range jobs {
		submit := jobs[i].Submit.Sub(0).Seconds()
		changes = append(changes, change{submit, i, false}, change{submit + jobs[i].Turnaround(), i, true})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	fair, shared, last, live := make([]float64, len(jobs)), 0.0, 0.0, 0
	for _, c := range changes {
		if live > 0 {
			shared += (c.at - last) / float64(live)
		}
		last = c.at
		if c.ends {
			live--
			fair[c.job] += shared
		} else {
			live++
			fair[c.job] -= shared
		}
	}
	return fair
}

// PhaseUtilization is the fraction of each resource that was used from the first submission to the
// last end: work of cores, disk and network, and memory occupied by attempts.
type PhaseUtilization struct {
	CPU  float64 `json:"cpu"`  // core-seconds of work
	Mem  float64 `json:"mem"`  // memory that attempts held, as their phases take it, times seconds
	Disk float64 `json:"disk"` // bytes read and written
	Net  float64 `json:"net"`  // bytes taken in
}

// PhaseCompletion is the time of a job from its submission to its end.
type PhaseCompletion struct {
	Job     string  `json:"job"`          // its name
	Seconds float64 `json:"completion_s"` // from its submission to its end
}

// PhaseRow is the result of a scheduler on a workload: means over replications, half-widths of their
// confidence intervals (null for a single replication), and the reduction of the mean completion
// time relative to the first scheduler of the list.
type PhaseRow struct {
	Workload string `json:"workload"` // `sort-5g`, `puma-50`, … ([experiments.md](experiments.md))
	Nodes    int    `json:"nodes"`    // of the cluster
	Jobs     int    `json:"jobs"`     // that are submitted at once
	PhaseCase
	MeanCompletion float64          `json:"mean_completion_s"`                // mean over jobs of the time from submission to end
	HalfWidth      *float64         `json:"half_width_s"`                     // half-width of its 95 % confidence interval; null: one replication
	Makespan       float64          `json:"makespan_s"`                       // from the submission to the last end
	MakespanHalf   *float64         `json:"makespan_half_width_s"`            // half-width of its 95 % confidence interval; null: one replication
	Utilization    PhaseUtilization `json:"utilization"`                      // used fraction of the nodes' resources over the makespan, 0 to 1
	Unfairness     float64          `json:"unfairness"`                       // mean over jobs of max(0, deficit) / work ([models.md](../docs/models.md))
	UnfairnessHalf *float64         `json:"unfairness_half_width"`            // half-width of its 95 % confidence interval; null: one replication
	Energy         float64          `json:"energy_j"`                         // energy of all nodes, joules
	EnergyHalf     *float64         `json:"energy_half_width_j"`              // half-width of its 95 % confidence interval; null: one replication
	Locality       float64          `json:"locality"`                         // share of attempts of maps on a node that has their split
	LocalityHalf   *float64         `json:"locality_half_width"`              // half-width of its 95 % confidence interval; null: one replication
	Failed         float64          `json:"failed"`                           // jobs that failed
	UnderFirst     *float64         `json:"under_first,omitempty"`            // fraction by which the mean completion time is below that of the first scheduler of the list, compared run by run; above 0: shorter; may be absent: this is the first scheduler
	UnderFirstHalf *float64         `json:"under_first_half_width,omitempty"` // half-width of its 95 % confidence interval
	// Completions are those of the jobs, in their order, for workloads of measured jobs.
	Completions []PhaseCompletion `json:"completions,omitempty"` // the jobs, in their order, with `--measured`
}

func rowOf(known, first []phaseFigures) PhaseRow {
	of := func(known []phaseFigures, what func(*phaseFigures) float64) []float64 {
		values := make([]float64, len(known))
		for i := range known {
			values[i] = what(&known[i])
		}
		return values
	}
	estimate := func(what func(*phaseFigures) float64, digits int) (float64, *float64) {
		e := replicate.Mean(of(known, what))
		return replicate.Round(e.Mean, digits), e.HalfWidth(digits)
	}
	use := func(r int) float64 {
		v, _ := estimate(func(f *phaseFigures) float64 { return f.used[r] }, shareDigits)
		return v
	}
	row := PhaseRow{Utilization: PhaseUtilization{use(0), use(1), use(2), use(3)}}
	completion := func(f *phaseFigures) float64 { return f.completion }
	row.MeanCompletion, row.HalfWidth = estimate(completion, secondDigits)
	row.Makespan, row.MakespanHalf = estimate(func(f *phaseFigures) float64 { return f.makespan }, secondDigits)
	row.Unfairness, row.UnfairnessHalf = estimate(func(f *phaseFigures) float64 { return f.unfairness }, shareDigits)
	row.Energy, row.EnergyHalf = estimate(func(f *phaseFigures) float64 { return f.energy }, 0)
	row.Locality, row.LocalityHalf = estimate(func(f *phaseFigures) float64 { return f.locality }, shareDigits)
	row.Failed, _ = estimate(func(f *phaseFigures) float64 { return f.failed }, shareDigits)
	if first != nil {
		if e := replicate.Reduction(of(known, completion), of(first, completion), replicate.Mean); !math.IsNaN(e.Mean) {
			mean := replicate.Round(e.Mean, shareDigits)
			row.UnderFirst, row.UnderFirstHalf = &mean, e.HalfWidth(shareDigits)
		}
	}
	return row
}
