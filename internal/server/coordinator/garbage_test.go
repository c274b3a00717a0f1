package coordinator

import (
	"encoding/json"
	"testing"

	"berth/internal/server/control"
)

// TestGarbageOfAddedTasks: tasks that were added to an open bag count in the choice of how often unused memory is collected.
func TestGarbageOfAddedTasks(t *testing.T) {
	s := running(t, options(t))
	id := preparedOpen(t, s)
	if err := s.submit(t.Context(), control.Submit{ID: id}); err != nil {
		t.Fatal(err)
	}
	l := s.lookup(id)
	if _, err := s.takeOn(t.Context(), l, control.Submit{First: &control.Add{From: "in", Tasks: []json.RawMessage{[]byte(`{}`), []byte(`{}`)}}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.call(func() error {
		if l.added != 2 {
			t.Errorf("%d tasks were added, want 2", l.added)
		}
		few := s.gcPercent
		l.added = 10_000_000
		s.addJob(l)
		many := s.gcPercent
		s.removeJob(id)
		if few != 100 || many >= 20 || s.gcPercent != 100 {
			t.Errorf("with few tasks memory may grow by %d %%, with many by %d %%, without them by %d %%", few, many, s.gcPercent)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
