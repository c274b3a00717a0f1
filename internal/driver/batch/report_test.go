package batch

import (
	"testing"
	"time"

	"berth/internal/driver"
	"berth/internal/job"
	"berth/internal/step"
)

// TestReporterBlocks: while a report waits for the coordinator to take it, the coordinator can
// still call the driver.
func TestReporterBlocks(t *testing.T) {
	taken, reporting := make(chan struct{}), make(chan struct{})
	d := aSite(Options{Setup: driver.Setup{Now: now, Report: func(step.Input) {
		close(reporting)
		<-taken
	}}, Dir: t.TempDir()})
	a := &alloc{id: "a1", job: "17"}
	d.allocs = []*alloc{a}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.take([]Job{{ID: "17"}}, map[string]Status{"17": {Phase: Running}}, nil)
	}()
	<-reporting
	d.release("a1")
	if err := d.clear("a1"); err != nil {
		t.Error(err)
	}
	close(taken)
	<-done
}

// TestLook: once a worker has gone its job is looked at at once, and then some times soon; not all the time.
func TestLook(t *testing.T) {
	at := job.Time(time.Hour)
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }}, Dir: t.TempDir(), Poll: 5 * time.Second})
	d.allocs = []*alloc{{id: "a1", job: "17", req: job.AllocRequest{Nodes: 1}}}
	ends := at.Add(24 * time.Hour)
	poll := func() time.Duration {
		d.take([]Job{{ID: "17"}}, map[string]Status{"17": {Phase: Running, End: ends, Hosts: []string{"n1"}}}, nil)
		return d.nextPoll.Sub(at)
	}
	if got := poll(); got != slowest*5*time.Second {
		t.Fatalf("a job that runs is looked at after %v", got)
	}
	at = at.Add(7 * time.Second)
	if d.look("a1"); d.nextPoll != at {
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
	if d.look("a1"); d.nextPoll != at.Add(soonAfter) {
		t.Errorf("when another worker goes, the next look is after %v", d.nextPoll.Sub(at))
	}
	d.look("a2") // nobody knows it
}
