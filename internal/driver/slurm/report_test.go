package slurm

import (
	"testing"
	"time"

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

// TestLook: once a worker has gone its job is looked at at once, and then some times soon; not all the time.
func TestLook(t *testing.T) {
	at := job.Time(time.Hour)
	d := New(Options{Now: func() job.Time { return at }, Dir: t.TempDir(), Poll: 5 * time.Second})
	d.allocs = []*alloc{{id: "a1", job: "17", req: job.AllocRequest{Nodes: 1}}}
	ends := at.Add(24 * time.Hour)
	poll := func() time.Duration {
		d.take([]string{"17"}, map[string]watched{"17": {state: "RUNNING", end: ends, nodes: "n1"}}, nil)
		return d.nextPoll.Sub(at)
	}
	if got := poll(); got != slowest*5*time.Second {
		t.Fatalf("a job that runs is looked at after %v", got)
	}
	at = at.Add(7 * time.Second)
	if d.Look("a1"); d.nextPoll != at {
		t.Errorf("after a worker has gone its job is looked at after %v", d.nextPoll.Sub(at))
	}
	for n := range quickLooks {
		got := poll()
		if want := soonAfter; n < quickLooks-1 && got != want {
			t.Errorf("look %d: the next one after %v, want %v", n+1, got, want)
		}
	}
	if got := d.nextPoll.Sub(at); got != slowest*5*time.Second {
		t.Errorf("then it is looked at after %v", got)
	}
	if d.Look("a1"); d.nextPoll != at.Add(soonAfter) {
		t.Errorf("when another worker goes, the next look is after %v", d.nextPoll.Sub(at))
	}
	d.Look("a2") // nobody knows it
}
