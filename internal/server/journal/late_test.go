package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
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

// TestSince: one who follows a journal is told each entry once, also of one that was retired,
// and nothing of an Append that failed.
func TestSince(t *testing.T) {
	s := NewSet(layout(t.TempDir()))
	var got []event.Record
	var at int64
	follow := func() {
		t.Helper()
		next, err := Since(s.path("bag-1"), at, func(e event.Entry) error {
			got = append(got, e.Record)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		at = next
	}
	var want []event.Record
	for n := range 3 {
		rs := []event.Record{event.OutputLost{Job: "bag-1", Task: n}, event.JobFinalizing{Job: "bag-2"}, event.JobFinalizing{Job: "bag-1"}}
		if _, err := s.Append(1, rs...); err != nil {
			t.Fatal(err)
		}
		want = append(want, rs[0], rs[2])
		if n == 1 {
			continue // two rounds at once
		}
		follow()
	}
	huge := event.OutputLost{Job: "bag-1", Reason: strings.Repeat("x", event.MaxSize)}
	if _, err := s.Append(1, event.JobFinalizing{Job: "bag-1"}, event.JobFinalizing{Job: "bag-2"}, huge); err == nil {
		t.Fatal("a record that is too large was taken")
	}
	follow()
	if err := s.Retire("bag-1"); err != nil {
		t.Fatal(err)
	}
	follow()
	if _, err := s.Append(1, want[0]); err != nil {
		t.Fatal(err)
	}
	follow()
	if want = append(want, want[0]); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var part []event.Record
	for next, before := int64(0), int64(-1); next != before; {
		before = next
		var err error
		if next, err = Since(s.path("bag-1"), next, func(e event.Entry) error { part = append(part, e.Record); return io.EOF }); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(part, want) {
		t.Errorf("one by one %v, want %v", part, want)
	}
	enough := errors.New("enough")
	if next, err := Since(s.path("bag-1"), 0, func(event.Entry) error { return enough }); !errors.Is(err, enough) || next != 0 {
		t.Errorf("stopped at %d with %v", next, err)
	}
}

// TestSinceOfAnothersJournal: a process that only reads a journal is told each whole entry once, and of a part of one nothing.
func TestSinceOfAnothersJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if _, err := Since(path, 0, func(event.Entry) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a journal that is not there: %v", err)
	}
	s := NewSet(func(job.ID) string { return path })
	for n := range 3 {
		if _, err := s.Append(1, event.OutputLost{Job: "bag-1", Task: n}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half")
	var got []int
	var at int64
	for size := range len(whole) + 1 {
		if err := os.WriteFile(half, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		at, err = Since(half, at, func(e event.Entry) error {
			got = append(got, e.Record.(event.OutputLost).Task)
			return nil
		})
		if err != nil {
			t.Fatalf("with %d bytes written: %v", size, err)
		}
	}
	if !slices.Equal(got, []int{0, 1, 2}) || at != int64(len(whole)) {
		t.Errorf("told of %v up to %d, want all three once, up to %d", got, at, len(whole))
	}
}
