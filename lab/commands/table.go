package commands

import (
	"io"
	"math"
	"strconv"
	"strings"

	"berth/internal/simulate/replicate"
	"berth/lab/metrics"
)

// Simulation is the result of a simulated schedule of rigid jobs. All fields except WallS are the same on every
// machine.
type Simulation struct {
	Policy         string  `json:"policy"`            // `fcfs`, `easy`, `easy-sjbf` or `cbf`
	Estimates      string  `json:"estimates"`         // what the batch system knows of run times: `user` or `exact`
	Nodes          int     `json:"nodes"`             // of the cluster
	Jobs           int     `json:"jobs"`              // jobs that were simulated
	Killed         int     `json:"killed"`            // of these, jobs that were ended at their wall time
	Skipped        int     `json:"skipped"`           // invalid lines, which were left out
	Filtered       int     `json:"filtered"`          // jobs that `--filter` left out
	MeanWaitS      float64 `json:"mean_wait_s"`       // mean time from submission to start
	MeanTurnaround float64 `json:"mean_turnaround_s"` // mean time from submission to end
	AveBSLD        float64 `json:"ave_bsld"`          // mean bounded slowdown, max(1, (wait + run) / max(run, 10 s))
	Utilization    float64 `json:"utilization"`       // node-seconds used / (nodes × makespan), 0 to 1
	MakespanS      float64 `json:"makespan_s"`        // from the first submission to the last end
	WallS          float64 `json:"wall_s"`            // how long reading and simulating took; the only value that differs between identical runs
}

// Measure copies a summary, rounded to the printed digits: times to milliseconds, slowdowns to thousandths, fractions
// to millionths.
func (s *Simulation) Measure(m metrics.Summary) {
	s.Jobs = m.Jobs
	s.MeanWaitS, s.MeanTurnaround, s.MakespanS = rounded(m.MeanWait, 1e3), rounded(m.MeanTurnaround, 1e3), rounded(m.Makespan, 1e3)
	s.AveBSLD, s.Utilization = rounded(m.AveBSLD, 1e3), rounded(m.Utilization, 1e6)
}

func rounded(x, parts float64) float64 { return math.Round(x*parts) / parts }

// Simulated writes a simulation as a table. Its wall time is left out, so that the same simulation writes the same
// text.
func Simulated(w io.Writer, s Simulation) error {
	fixed := func(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	head := []string{"POLICY", "ESTIMATES", "NODES", "JOBS", "KILLED", "MEAN WAIT s", "MEAN TURNAROUND s", "AVEBSLD", "UTILIZATION", "MAKESPAN s"}
	row := []string{s.Policy, s.Estimates, strconv.Itoa(s.Nodes), strconv.Itoa(s.Jobs), strconv.Itoa(s.Killed), fixed(s.MeanWaitS, 2),
		fixed(s.MeanTurnaround, 2), fixed(s.AveBSLD, 2), fixed(100*s.Utilization, 2) + " %", fixed(s.MakespanS, 0)}
	var b strings.Builder
	replicate.WriteGrid(&b, [][]string{head, row}, 2)
	_, err := io.WriteString(w, b.String())
	return err
}
