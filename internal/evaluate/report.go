package evaluate

// Report is what an experiment found, and all that it depends on. The same settings give the
// same bytes as JSON, CSV, text, SVG and PNG.
type Report struct {
	// Experiment is table2, table3, fig3, fig4 or variants.
	Experiment string `json:"experiment"`
	// Nodes of the cluster; Policy of its batch system (cbf, easy, …).
	Nodes  int    `json:"nodes"`
	Policy string `json:"policy"`
	// Seed from which, with its number, each replication's random numbers come.
	Seed uint64 `json:"seed"`
	// Precision is the half-width, as a share of the mean, at which a wanted mean is known
	// well enough; Confidence that of the intervals.
	Precision  float64 `json:"precision"`
	Confidence float64 `json:"confidence"`
	// ControlVariates says that means are corrected by what is known of the loads that were
	// drawn, and half-widths with them; see control.go.
	ControlVariates bool `json:"control_variates"`
	// Workload says in words what the jobs are.
	Workload []string `json:"workload"`
	// Cells are the figures, in the order of the table.
	Cells []Cell `json:"cells"`

	// Cases are the adaptors that were compared.
	Cases []Case `json:"-"`

	title string
}

// Cell is a figure: one measure of some jobs, under one adaptor and one load.
type Cell struct {
	// Load is which jobs there were: "HPC only", "MR only", "HPC+MR".
	Load string `json:"load"`
	// Parameter is what a sweep varies, Value to what: hpc_interarrival_s, mr_interarrival_s,
	// bin; left out without a sweep.
	Parameter string  `json:"parameter,omitempty"`
	Value     float64 `json:"value,omitempty"`
	// MaxTime is the queue's maximum time in seconds, 0 for none.
	MaxTime float64 `json:"max_time_s"`
	// Adaptor is how the MapReduce jobs came to the cluster: naive, paper, …; empty for
	// HPC only.
	Adaptor string `json:"adaptor,omitempty"`
	// Jobs are those that the measure is of: all, hpc, mr, "bin 1", …
	Jobs Jobs `json:"jobs"`
	// Measure is turnaround_s (mean), ave_bsld, utilization (share), makespan_s,
	// allocations (a MapReduce job), failed (jobs).
	Measure string `json:"measure"`
	// Mean over replications, and half the width of its confidence interval; null of one
	// replication that is not all there is.
	Mean      float64  `json:"mean"`
	HalfWidth *float64 `json:"half_width"`
	// Replications that it is the mean of. Reached says that the half-width is within the
	// precision; Wanted that replications went on until it was, or none were left.
	Replications int  `json:"replications"`
	Wanted       bool `json:"wanted"`
	Reached      bool `json:"reached"`
	// Paper is what the paper found, where it says.
	Paper *float64 `json:"paper,omitempty"`
	// Under is by how much this is below what other adaptors gave for the same jobs.
	Under []Under `json:"under,omitempty"`
}

// Under is by how much a mean is below that of another adaptor, replication by replication
// for the same jobs: 1 − mean/mean, and half the width of its confidence interval; null
// where it is not known.
type Under struct {
	Adaptor   string   `json:"adaptor"`
	Reduction float64  `json:"reduction"`
	HalfWidth *float64 `json:"half_width"`
}

// under returns by how much the cell is below another adaptor's, nil where it is not told.
func (c *Cell) under(adaptor string) *Under {
	for i := range c.Under {
		if c.Under[i].Adaptor == adaptor {
			return &c.Under[i]
		}
	}
	return nil
}

// at is where a cell stands.
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

// cell returns a figure, nil where there is none.
func (r *Report) cell(where at) *Cell {
	for i := range r.Cells {
		if r.Cells[i].at() == where {
			return &r.Cells[i]
		}
	}
	return nil
}
