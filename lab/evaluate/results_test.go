package evaluate

import (
	"reflect"
	"testing"
	"time"

	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/repeat"
)

// TestControlsOfLoads checks that means with control variates agree with plain averages within their
// half-widths, are more precise, and do not depend on the number of workers.
func TestControlsOfLoads(t *testing.T) {
	run := func(plain bool, workers int) *Report {
		s := settings()
		s.Nodes, s.Run, s.Plain, s.Limits = 16, sim.Run, plain, repeat.Limits{Min: 25, Max: 25, Workers: workers}
		r, err := s.Table2(t.Context(), Mix{
			HPC: HPC{Types: workload.Typed, Shape: PeakShape, Jobs: 25}, MR: MR{Every: time.Minute, Length: 4 * time.Minute},
			Cases: somecases(t, "paper"),
		}, []time.Duration{18 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain, controlled := run(true, 3), run(false, 3)
	if again := run(false, 1); !reflect.DeepEqual(again.Cells, controlled.Cells) {
		t.Error("another number of workers gives other figures")
	}
	if plain.ControlVariates || !controlled.ControlVariates {
		t.Error("the report does not say whether there are control variates")
	}
	if len(plain.Cells) != len(controlled.Cells) {
		t.Fatalf("%d figures, %d without control variates", len(controlled.Cells), len(plain.Cells))
	}
	for i, c := range controlled.Cells {
		p := plain.Cells[i]
		t.Logf("%-8s %-5s %-4s %-12s %12.3f ± %9.3f, plain %12.3f ± %9.3f", c.Load, c.Adaptor, c.Jobs, c.Measure, c.Mean, *c.HalfWidth, p.Mean, *p.HalfWidth)
		if off := max(c.Mean-p.Mean, p.Mean-c.Mean); off > *c.HalfWidth+*p.HalfWidth {
			t.Errorf("%s of %s jobs, %s, %s: %g ± %g, plain %g ± %g", c.Measure, c.Jobs, c.Load, c.Adaptor, c.Mean, *c.HalfWidth, p.Mean, *p.HalfWidth)
		}
		if c.Jobs == HPCJobs && c.Measure == Turnaround && *c.HalfWidth > 0.6**p.HalfWidth {
			t.Errorf("turnaround of HPC jobs, %s, %s: ± %g, plain ± %g", c.Load, c.Adaptor, *c.HalfWidth, *p.HalfWidth)
		}
	}
}

// TestExact checks that one replication without randomness has a mean that is known exactly.
func TestExact(t *testing.T) {
	if e := (&results{exact: true}).mean([]float64{7}); e.Half != 0 || !repeat.Within(e, 0.01) {
		t.Errorf("%+v", e)
	}
}
