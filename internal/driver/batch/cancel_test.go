package batch

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// stayer is a batch system in which a cancelled job does not end.
type stayer struct {
	nobody
	asked *[]bool // whether each cancellation was one more
}

func (s stayer) Cancel(_ context.Context, _ string, again bool) error {
	*s.asked = append(*s.asked, again)
	if len(*s.asked) == 1 {
		return &job.Error{Class: job.Transient, What: "no answer"}
	}
	return nil
}

// TestCancelAgain checks that a job that stays is cancelled once a minute, and that the batch system is told when it had accepted to cancel it.
func TestCancelAgain(t *testing.T) {
	at := job.Time(time.Hour)
	var asked []bool
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }}, Dir: t.TempDir()})
	d.system = stayer{asked: &asked}
	a := &alloc{id: "a1", job: "17", released: true}
	d.allocs = []*alloc{a}
	for range 3 {
		d.cancelDue(t.Context())
		d.cancelDue(t.Context()) // nothing is due
		at = a.cancel.next
	}
	if want := []bool{false, false, true}; !slices.Equal(asked, want) {
		t.Errorf("cancelled again: %v, want %v", asked, want)
	}
}

// hanger is a batch system whose submitting command does not come back although the job was taken.
type hanger struct {
	nobody
	begin     func() // the job begins, and is given back
	cancelled *[]string
}

func (h hanger) Submit(ctx context.Context, _ Submission, _ *os.File) (string, error) {
	h.begin()
	<-ctx.Done()
	return "", &job.Error{Class: job.Transient, What: "interrupted", Err: ctx.Err()}
}

func (hanger) Find(context.Context, string) (string, error) { return "17", nil }

func (hanger) Jobs(context.Context, []Job) (map[string]Status, error) {
	return map[string]Status{"17": {Phase: Running}}, nil
}

func (h hanger) Cancel(_ context.Context, id string, _ bool) error {
	*h.cancelled = append(*h.cancelled, id)
	return nil
}

// TestCancelBesideSubmission: the job of a submission that hangs runs, and is given back. The submission is given up and the job is cancelled, even if
// a process of the submission lives on and has the lock of its file.
func TestCancelBesideSubmission(t *testing.T) {
	for _, kept := range []bool{false, true} {
		var cancelled []string
		d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return job.Time(time.Hour) }}, Dir: t.TempDir()})
		a := d.alloc("a1", job.AllocRequest{Nodes: 1})
		if err := os.MkdirAll(a.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.writeScript(a, "#!/bin/sh\n"); err != nil {
			t.Fatal(err)
		}
		d.system = hanger{cancelled: &cancelled, begin: func() {
			if err := os.WriteFile(a.file(0, hostEnd), []byte("n1\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			d.release("a1")
		}}
		d.allocs = []*alloc{a}
		d.submitDue(t.Context())
		if kept {
			f, err := a.lockJobFile()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
		}
		d.cancelDue(t.Context())
		if !slices.Equal(cancelled, []string{"17"}) {
			t.Errorf("the lock is held: %t; cancelled %q", kept, cancelled)
		}
	}
}
