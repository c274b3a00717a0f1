package journal

import (
	"errors"
	"os"
	"reflect"
	"testing"

	"berth/internal/core/event"
)

// TestCompact: only what is wanted stays, with its numbers; what is appended afterwards
// follows it; and a process that was killed over it leaves the old journal.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := NewSet(layout(dir))
	lost := func(n string) event.Record { return event.NodeLost{Node: "a1/0", Reason: n} }
	for _, n := range []string{"1", "2", "3", "4"} {
		if _, err := s.Append(1, lost(n)); err != nil {
			t.Fatal(err)
		}
	}
	even := func(e event.Entry) bool { return e.Seq%2 == 0 }
	if err := s.Compact("", even); err == nil {
		t.Error("a journal in use was compacted")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := layout(dir)("")
	if err := os.WriteFile(path+compacted, []byte("half of one"), 0o600); err != nil {
		t.Fatal(err)
	}

	s, got, _ := replaySet(t, dir)
	if want := []event.Record{lost("1"), lost("2"), lost("3"), lost("4")}; !reflect.DeepEqual(records(got), want) {
		t.Fatalf("before: %v", got)
	}
	if err := s.Compact("", even); err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(2, lost("5")); err != nil || first != 5 {
		t.Fatalf("number %d, %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, got, _ = replaySet(t, dir)
	if want := []event.Record{lost("2"), lost("4"), lost("5")}; !reflect.DeepEqual(records(got), want) || got[0].Seq != 2 {
		t.Errorf("after: %v", got)
	}
	if err := s.Compact("", func(event.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(3, lost("6")); err != nil || first != 6 {
		t.Fatalf("number %d, %v", first, err)
	}
	if err := errors.Join(s.Close(), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	if err := NewSet(layout(dir)).Compact("", even); err == nil {
		t.Error("a journal that is not there was compacted")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
