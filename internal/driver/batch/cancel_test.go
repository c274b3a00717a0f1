package batch

import (
	"context"
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
