package journal

import (
	"errors"
	"reflect"
	"testing"

	"berth/internal/event"
	"berth/internal/job"
)

// A job that had ended is left out of the replay at the start; when it goes on, its
// journal is recalled, appended to, and in order with all others.
func TestRecallOfAJobThatHadEnded(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	ended := []event.Record{event.JobFinalizing{Job: "bag-1"}, event.JobEnded{Job: "bag-1", State: event.StateFailed}}
	if _, err := s.Append(1, ended...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s, got, _ := replaySet(t, dir)
	if len(got) != 0 {
		t.Fatalf("replayed %v", got)
	}
	const from = 1000
	s.NumberFrom(from)
	s.NumberFrom(5) // never back
	joined := event.NodeJoined{Node: "a1/0"}
	if first, err := s.Append(2, joined); err != nil || first != from {
		t.Fatalf("first number %d, %v", first, err)
	}
	var recalled []event.Entry
	err := s.Recall("bag-1", func(e event.Entry) error {
		recalled = append(recalled, e)
		return nil
	})
	if err != nil || !reflect.DeepEqual(records(recalled), ended) {
		t.Fatalf("recalled %v, %v", recalled, err)
	}
	resumed := event.JobResumed{Job: "bag-1", Failed: true}
	if first, err := s.Append(3, resumed); err != nil || first != from+1 {
		t.Fatalf("first number %d, %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, _ = replaySet(t, dir, "bag-1")
	if want := append(ended[:2:2], joined, resumed); !reflect.DeepEqual(records(got), want) {
		t.Errorf("got %v, want %v", got, want)
	}
	stop := errors.New("enough")
	if err := s.Recall("bag-1", func(event.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
	if err := s.Recall(job.ID("bag-2"), func(event.Entry) error { return nil }); err == nil {
		t.Error("recalled a journal that does not exist")
	}
}
