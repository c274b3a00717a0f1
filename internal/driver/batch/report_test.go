package batch

import (
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// TestReporterBlocks checks that the coordinator can call the driver while a report waits until the
// coordinator accepts it.
func TestReporterBlocks(t *testing.T) {
	accepted, reporting := make(chan struct{}), make(chan struct{})
	d := aSite(Options{Setup: driver.Setup{Now: now, Report: func(step.Input) {
		close(reporting)
		<-accepted
	}}, Dir: t.TempDir()})
	a := &alloc{id: "a1", job: "17"}
	d.allocs = []*alloc{a}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.update([]Job{{ID: "17"}}, map[string]Status{"17": {Phase: Running}}, nil)
	}()
	<-reporting
	d.release("a1")
	if err := d.clear("a1"); err != nil {
		t.Error(err)
	}
	close(accepted)
	<-done
}

// TestRecheck checks that a job is polled at once after a worker has disconnected, then several times soon, and then seldom again.
func TestRecheck(t *testing.T) {
	at := job.Time(time.Hour)
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }}, Dir: t.TempDir(), Poll: 5 * time.Second})
	d.allocs = []*alloc{{id: "a1", job: "17", req: job.AllocRequest{Nodes: 1}}}
	ends := at.Add(24 * time.Hour)
	poll := func() time.Duration {
		d.update([]Job{{ID: "17"}}, map[string]Status{"17": {Phase: Running, End: ends, Hosts: []string{"n1"}}}, nil)
		return d.nextPoll.Sub(at)
	}
	if got := poll(); got != slowest*5*time.Second {
		t.Fatalf("a running job is polled after %v", got)
	}
	at = at.Add(7 * time.Second)
	if d.recheck("a1"); d.nextPoll != at {
		t.Errorf("after a worker has disconnected its job is polled after %v", d.nextPoll.Sub(at))
	}
	for n := range quickPolls {
		got := poll()
		if want := soonAfter; n < quickPolls-1 && got != want {
			t.Errorf("poll %d: the next one follows after %v, want %v", n+1, got, want)
		}
	}
	if got := d.nextPoll.Sub(at); got != slowest*5*time.Second {
		t.Errorf("then it is polled after %v", got)
	}
	if d.recheck("a1"); d.nextPoll != at.Add(soonAfter) {
		t.Errorf("when another worker disconnects, the next poll follows after %v", d.nextPoll.Sub(at))
	}
	d.recheck("a2") // no such allocation
}
