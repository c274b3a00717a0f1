package slurm

import (
	"testing"

	"berth/internal/engine"
	"berth/internal/job"
)

// TestReporterBlocks: while a report waits for the coordinator to take it, the coordinator can
// still call the driver.
func TestReporterBlocks(t *testing.T) {
	taken, reporting := make(chan struct{}), make(chan struct{})
	d := New(Options{Now: now, Dir: t.TempDir(), Report: func(engine.Input) {
		close(reporting)
		<-taken
	}})
	a := &alloc{id: "a1", job: "17"}
	d.allocs = []*alloc{a}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.take([]string{"17"}, map[string]watched{"17": {state: "RUNNING"}}, nil)
	}()
	<-reporting
	if err := d.Release(t.Context(), "a1"); err != nil {
		t.Error(err)
	}
	if err := d.Clear(t.Context(), job.AllocID("a1")); err != nil {
		t.Error(err)
	}
	close(taken)
	<-done
}
