package evaluate

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"berth/internal/simulate/replicate"
)

// PhaseReport is the result of a PhaseStudy.
type PhaseReport struct {
	Rows         []PhaseRow `json:"rows"`          // the workloads one after another, each under all schedulers
	Seed         uint64     `json:"seed"`          // seed of all random numbers
	Replications int        `json:"replications"`  // of each workload
	FixedBuffers bool       `json:"fixed_buffers"` // tasks had Hadoop's buffers for sorting under all schedulers
	DiskLoss     float64    `json:"disk_loss"`     // how much longer a byte took for each further phase at its disk
	Confidence   float64    `json:"confidence"`    // of the intervals, 0.95
}

// String names the case: "phases", "phases α=2", "phases without order".
func (c PhaseCase) String() string {
	name := c.Scheduler
	if c.Alpha != nil {
		name += " α=" + strconv.FormatFloat(*c.Alpha, 'g', -1, 64)
	}
	if c.Without != "" {
		name += " without " + string(c.Without)
	}
	return name
}

// below formats the percentage by which the mean completion time is below that of the first
// scheduler.
func (r *PhaseRow) below() string {
	if r.UnderFirst == nil {
		return ""
	}
	return estimateText(*r.UnderFirst, r.UnderFirstHalf, true)
}

// Text writes a line for each workload and scheduler.
func (r *PhaseReport) Text(w io.Writer) error {
	grid := [][]string{{"workload", "scheduler", "completion s", "% below first", "makespan s", "cpu %", "mem %", "disk %", "net %", "local %", "unfairness", "energy MJ"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		name := row.Workload
		if i > 0 && r.Rows[i-1].Workload == name {
			name = ""
		} else if i > 0 {
			grid = append(grid, nil)
		}
		share := func(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }
		grid = append(grid, []string{name, row.PhaseCase.String(), estimateText(row.MeanCompletion, row.HalfWidth, false), row.below(), estimateText(row.Makespan, row.MakespanHalf, false),
			share(row.Utilization.CPU), share(row.Utilization.Mem), share(row.Utilization.Disk), share(row.Utilization.Net), share(row.Locality),
			strconv.FormatFloat(row.Unfairness, 'f', 2, 64), strconv.FormatFloat(row.Energy/1e6, 'f', 3, 64)})
	}
	var b strings.Builder
	replicate.WriteGrid(&b, grid, 2)
	fmt.Fprintf(&b, "\nJobs are submitted at once. Means of %d runs, ± half the width of the %g %% confidence interval; seed %d. Completion is the mean over the jobs of the time\n"+
		"from submission to end; lower is better. %% below first: by how much, run by run, completion is below that of the scheduler in the first line; higher is better.\nLocal: maps that had their split on their node. See docs/simulate.md for the other columns.\n", r.Replications, 100*r.Confidence, r.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}
