package coordinator

import (
	"context"
	"errors"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// TestMoreOf: whoever follows a job looks once more at first, and then after each record that came since the last look was begun, also
// if it came during that look. Without one it waits until it is left or the coordinator ends.
func TestMoreOf(t *testing.T) {
	spec := &job.Spec{ID: "bag-1", Kind: job.Bag}
	l := &live{assignment: assignment{Decided: &rundir.Decided{Spec: spec}}, report: report.New(report.Info{ID: spec.ID, Kind: spec.Kind})}
	s := &Server{stopped: make(chan struct{})}
	more := s.moreOf(l)
	if err := more(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.observe(event.Entry{Record: event.BagClosed{Job: spec.ID}})
		if err := more(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := more(left); !errors.Is(err, context.Canceled) {
		t.Errorf("without a record: %v", err)
	}
	close(s.stopped)
	if err := more(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("at the end: %v", err)
	}
}
