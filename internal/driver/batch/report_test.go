package batch

import (
	"os"
	"slices"
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
		d.update(d.allocs, map[string]Status{"17": {Phase: Running}}, nil)
	}()
	<-reporting
	d.release("a1")
	if err := d.clear("a1"); err != nil {
		t.Error(err)
	}
	close(accepted)
	<-done
}

// TestRunning: while the nodes of a job that runs have not started, it is told what the job's output says, and one that is suspended is told to be.
func TestRunning(t *testing.T) {
	var notes []step.Input
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return job.Time(time.Hour) }, Report: func(in step.Input) {
		switch in.(type) {
		case step.AllocNote:
			notes = append(notes, in)
		case step.AllocUp: // it ends what a note before it says
			notes = nil
		}
	}}, Dir: t.TempDir(), Poll: 5 * time.Second})
	d.words.Noise = []string{"nothing"}
	a := d.alloc("a1", job.AllocRequest{Nodes: 1})
	a.job = "17"
	d.allocs = []*alloc{a}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, text string // written before
		phase      Phase
		ends       job.Time
		note       step.AllocNote // the zero value: none
	}{
		{file: d.output(a), text: "srun: error: no step\nwe say nothing\n", phase: Running, note: step.AllocNote{Note: "its output says: srun: error: no step"}},
		{phase: Running},
		{file: a.file(0, hostEnd), text: "n1\n", phase: Odd, note: step.AllocNote{Note: "Some job 17 is suspended", Suspended: true}},
		{phase: Odd},
		{phase: Running},
		{phase: Odd, note: step.AllocNote{Note: "Some job 17 is suspended", Suspended: true}},
		{phase: Running, ends: job.Time(2 * time.Hour)},
	} {
		if c.file != "" {
			if err := os.WriteFile(c.file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		odd := a.odd
		notes = nil
		d.update(d.allocs, map[string]Status{"17": {Phase: c.phase, Why: "suspended", End: c.ends}}, nil)
		want := []step.Input{}
		if c.note.Alloc = "a1"; c.note.Note != "" || odd && c.phase == Running {
			want = append(want, c.note)
		}
		if !slices.Equal(notes, want) {
			t.Errorf("%+v: noted %+v, want %+v", c, notes, want)
		}
	}
}

// TestRecheck checks that a job is polled at once after a worker has disconnected, then several times soon, and then seldom again.
func TestRecheck(t *testing.T) {
	at := job.Time(time.Hour)
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }}, Dir: t.TempDir(), Poll: 5 * time.Second})
	d.allocs = []*alloc{{id: "a1", job: "17", req: job.AllocRequest{Nodes: 1}, runs: true}}
	ends := at.Add(24 * time.Hour)
	poll := func() time.Duration {
		d.update(d.allocs, map[string]Status{"17": {Phase: Running, End: ends, Hosts: []string{"n1"}}}, nil)
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
