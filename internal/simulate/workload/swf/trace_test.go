package swf

import (
	"reflect"
	"testing"

	"berth/internal/simulate/workload"
	"berth/test/support/tracetest"
)

// TestFilter checks that the filter turns the cleaned trace into the filtered one, which another
// program made.
func TestFilter(t *testing.T) {
	all, err := Open(tracetest.Path(t, tracetest.SDSC), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Open(tracetest.Path(t, tracetest.SDSCFiltered), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Jobs) != 59715 || len(want.Jobs) != 53999 || all.Header.Procs() != 128 || want.Header.Procs() != 128 {
		t.Fatalf("%d and %d jobs, %d and %d processors", len(all.Jobs), len(want.Jobs), all.Header.Procs(), want.Header.Procs())
	}
	ours, err := all.Rigid(Options{Filter: true})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := want.Rigid(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ours, theirs) {
		t.Error("the workloads differ")
	}
	if all.Filtered != 59715-53999 {
		t.Errorf("%d were left out", all.Filtered)
	}
	for i := range want.Jobs {
		all.Jobs[i].Line = want.Jobs[i].Line
		if all.Jobs[i] != want.Jobs[i] {
			t.Fatalf("job %d of the filtered trace is %+v, of the cleaned %+v", i, want.Jobs[i], all.Jobs[i])
		}
	}
}

// TestTraceUnfiltered checks that without the filter each job that cannot be run is skipped with its
// line.
func TestTraceUnfiltered(t *testing.T) {
	l, err := Open(tracetest.Path(t, tracetest.SDSC), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Rigid(Options{}); err == nil {
		t.Fatal("a job without a run time was taken")
	}
	jobs, err := l.Rigid(Options{Odd: workload.Skip})
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs)+len(l.Skipped) != 59715 || len(l.Jobs) != len(jobs) {
		t.Errorf("%d jobs, %d skipped, %d left in the log", len(jobs), len(l.Skipped), len(l.Jobs))
	}
	for _, o := range l.Skipped {
		if o.Why != "the run time is unknown (-1)" {
			t.Errorf("line %d: %s", o.Line, o.Why)
		}
	}
}

// BenchmarkOpen reads the filtered trace and reports jobs/s.
func BenchmarkOpen(b *testing.B) {
	path := tracetest.Path(b, tracetest.SDSCFiltered)
	jobs := 0
	for b.Loop() {
		l, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		rigid, err := l.Rigid(Options{})
		if err != nil {
			b.Fatal(err)
		}
		jobs += len(rigid)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
	b.SetBytes(4968784) // of text
}
