package evaluate

// Report is the result of an experiment with all its settings. The same settings give the same bytes
// as JSON, CSV, text, SVG and PNG.
type Report struct {
	// Experiment is table2, table3, fig3, fig4 or variants.
	Experiment string `json:"experiment"` // `table2`, …
	// Nodes is the size of the cluster, and Policy the policy of its batch system (cbf, easy, …).
	Nodes  int    `json:"nodes"`  // of the cluster
	Policy string `json:"policy"` // of its batch system
	// Seed determines, with the number of a replication, the random numbers of the replication.
	Seed uint64 `json:"seed"` // seed of all random numbers
	// Precision is the half-width, as a fraction of the mean, at which a wanted mean is precise
	// enough. Confidence is the confidence level of the intervals.
	Precision  float64 `json:"precision"`  // half-width that is aimed at, as a fraction of the mean
	Confidence float64 `json:"confidence"` // of the intervals, 0.95
	// ControlVariates says that means and half-widths are corrected by control variates; see
	// control.go.
	ControlVariates bool `json:"control_variates"` // means are corrected with control variates: the known means of the drawn workloads ([experiments.md](experiments.md))
	// Workload describes the jobs in words.
	Workload []string `json:"workload"` // description of the jobs, as text
	// Cells are the figures, in the order of the table.
	Cells []Cell `json:"cells"` // the figures, in the order of the table

	// Cases are the adaptors that were compared.
	Cases []Case `json:"-"`

	title string
}

// Cell is a figure: one measure over a set of jobs, under one adaptor and one load.
type Cell struct {
	// Load names the jobs of the simulation: "HPC only", "MR only", "HPC+MR".
	Load string `json:"load"` // which jobs there were: `HPC only`, `MR only`, `HPC+MR`
	// Parameter is what a sweep varies (hpc_interarrival_s, mr_interarrival_s, bin), and Value its
	// value. Both are omitted without a sweep.
	Parameter string  `json:"parameter,omitempty"` // what a sweep varies: `hpc_interarrival_s`, `mr_interarrival_s`, `bin`
	Value     float64 `json:"value,omitempty"`     // the value of the parameter
	// MaxTime is the queue's maximum wall time in seconds, or 0 for none.
	MaxTime float64 `json:"max_time_s"` // the queue's maximum time; 0: none
	// Adaptor is the adaptor of the MapReduce jobs: naive, paper, …; empty for HPC only.
	Adaptor string `json:"adaptor,omitempty"` // how MapReduce jobs came to the cluster; may be absent: there were none
	// Jobs are the jobs over which the measure is taken: all, hpc, mr, "bin 1", …
	Jobs Jobs `json:"jobs"` // the jobs that are measured: `all`, `hpc`, `mr`, `bin 1`, …
	// Measure is turnaround_s (mean), ave_bsld, utilization (fraction), makespan_s, allocations (per
	// MapReduce job), failed (number of jobs) or lost_work (fraction of the core-seconds worked).
	Measure string `json:"measure"` // `turnaround_s`, `ave_bsld`, `utilization`, `makespan_s`, `allocations` or `failed`
	// Mean is the mean over replications, and HalfWidth half the width of its confidence interval.
	// HalfWidth is null for a single random replication.
	Mean      float64  `json:"mean"`       // mean over replications
	HalfWidth *float64 `json:"half_width"` // half the width of its confidence interval; null: one replication that is not all there is
	// Replications is the number of values of the mean. Reached says that the half-width is within
	// the precision, and Wanted that replications continued until it was, or until the limit.
	Replications int  `json:"replications"` // number of replications that were averaged
	Wanted       bool `json:"wanted"`       // replications went on until it was known well enough, or none were left
	Reached      bool `json:"reached"`      // the half-width is within the precision
	// Paper is the paper's figure, if it gives one.
	Paper *float64 `json:"paper,omitempty"` // what the paper found
	// Under says by how much this figure is below that of other adaptors for the same jobs.
	Under []Under `json:"under,omitempty"` // how far the mean is below that of other adaptors for the same jobs
}

// Under is the fraction by which a mean is below that of another adaptor, replication by replication
// for the same jobs (1 − mean/mean), and half the width of its confidence interval, null if unknown.
type Under struct {
	Adaptor   string   `json:"adaptor"`    // the other adaptor
	Reduction float64  `json:"reduction"`  // 1 − mean / the other adaptor's mean; above 0: this adaptor's mean is lower
	HalfWidth *float64 `json:"half_width"` // half the width of its confidence interval; null: not known
}

// under returns the comparison of the cell with another adaptor, or nil.
func (c *Cell) under(adaptor string) *Under {
	for i := range c.Under {
		if c.Under[i].Adaptor == adaptor {
			return &c.Under[i]
		}
	}
	return nil
}

// at identifies a cell in the table.
type at struct {
	load      string
	parameter string
	value     float64
	maxTime   float64
	adaptor   string
	jobs      Jobs
	measure   string
}

func (c *Cell) at() at {
	return at{c.Load, c.Parameter, c.Value, c.MaxTime, c.Adaptor, c.Jobs, c.Measure}
}

// cell returns a cell, or nil if there is none.
func (r *Report) cell(where at) *Cell {
	for i := range r.Cells {
		if r.Cells[i].at() == where {
			return &r.Cells[i]
		}
	}
	return nil
}
