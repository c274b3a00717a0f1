package batch

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// TestPause checks that the time between failing submissions grows, and that all waiting allocations are given the reason.
func TestPause(t *testing.T) {
	at := job.Time(time.Hour)
	var notes []string
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }, Report: func(in step.Input) {
		if n, ok := in.(step.AllocNote); ok {
			notes = append(notes, string(n.Alloc)+": "+n.Note)
		}
	}}})
	first, second := &alloc{id: "a1"}, &alloc{id: "a2"}
	d.allocs = []*alloc{first, second, {id: "a3", job: "17"}}
	failed := &job.Error{Class: job.Transient, Where: "sbatch", What: "Socket timed out", Err: os.ErrDeadlineExceeded}
	var waits []time.Duration
	for range 10 {
		d.submitted(first, "", failed)
		waits = append(waits, d.submit.next.Sub(at))
		at = d.submit.next
	}
	s := time.Second
	if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	if len(notes) != 20 || !strings.HasPrefix(notes[0], "a1: submission failed: Socket timed out; next try at ") || !first.maybe || second.maybe ||
		!strings.HasPrefix(notes[19], "a2: submission is paused after 10 failures: Socket timed out; next try at ") || !strings.HasSuffix(notes[19], d.newEnvironment()) {
		t.Errorf("notes %q", notes)
	}
	d.submitted(first, "18", nil)
	if first.job != "18" || first.maybe || d.submit != (backoff{}) {
		t.Errorf("after a success %+v, %+v", first, d.submit)
	}
	d.submitted(second, "", errSubmitting) // only this allocation waits
	if second.submit.next != at.Add(s) || d.submit.next != 0 {
		t.Errorf("%+v, %+v", second.submit, d.submit)
	}
}

// TestUnsaid: a submission that fails twice for no reason is refused, and not tried for ever.
func TestUnsaid(t *testing.T) {
	at := job.Time(time.Hour)
	var down []step.Input
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }, Report: func(in step.Input) {
		if in, ok := in.(step.AllocDown); ok {
			down = append(down, in)
		}
	}}, Dir: t.TempDir()})
	a, failed := &alloc{id: "a1"}, &job.Error{Class: job.Transient, Where: "sbatch", What: "Unspecified error", Err: ErrUnsaid}
	d.allocs = []*alloc{a}
	if d.submitted(a, "", failed); len(down) > 0 || !a.maybe || d.submit.next != at.Add(time.Second) {
		t.Errorf("after one failure %+v, %+v", down, d.submit)
	}
	if d.submitted(a, "", failed); len(down) != 1 || !down[0].(step.AllocDown).Refuse || len(d.allocs) > 0 {
		t.Errorf("after two failures %+v", down)
	}
}

// TestInterval checks that jobs are polled often only while one of them is about to change.
func TestInterval(t *testing.T) {
	at := job.Time(time.Hour)
	d := aSite(Options{Setup: driver.Setup{Now: func() job.Time { return at }}})
	for _, c := range []struct {
		next []time.Duration // from now; 0: unknown
		want time.Duration
	}{
		{nil, 30 * time.Second},
		{[]time.Duration{24 * time.Hour}, 30 * time.Second},
		{[]time.Duration{24 * time.Hour, 0}, 5 * time.Second},
		{[]time.Duration{time.Minute}, 5 * time.Second},
		{[]time.Duration{5 * time.Minute, time.Hour}, 15 * time.Second},
		{[]time.Duration{-time.Minute}, 5 * time.Second},
	} {
		d.allocs = nil
		for _, n := range c.next {
			a := &alloc{job: "1"}
			if n != 0 {
				a.next = at.Add(n)
			}
			d.allocs = append(d.allocs, a)
		}
		if got := d.interval(at); got != c.want {
			t.Errorf("%v: %v, want %v", c.next, got, c.want)
		}
	}
}
