package statedir

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
)

// append adds tasks with these names.
func add(t *testing.T, m *More, key string, names ...string) {
	t.Helper()
	specs := make([]task.Spec, len(names))
	for i, name := range names {
		specs[i] = task.Spec{Name: name, Command: []string{"true"}, Needs: job.Needs{CPUs: 2}}
	}
	if err := m.Append(key, specs); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of all tasks that a new reader finds.
func names(t *testing.T, r Run) (all []string) {
	t.Helper()
	m := r.More()
	n, err := m.Len()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		s, ok := m.At(i)
		if want := (task.Spec{Name: s.Name, Command: []string{"true"}, Needs: job.Needs{CPUs: 2}}); !ok || !reflect.DeepEqual(s, want) {
			t.Fatalf("task %d is %+v, %t", i, s, ok)
		}
		all = append(all, s.Name)
	}
	return all
}

// TestMore: tasks are read as they were appended. Wherever a crash cuts the file off, those of complete calls are read.
func TestMore(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	w := r.More()
	if err := w.Cut(0); err != nil {
		t.Fatal(err)
	}
	reader := r.More()
	if _, ok := reader.At(0); ok {
		t.Error("there is a task before any was added")
	}
	var ends []int
	for _, names := range [][]string{{"a", "b"}, {"c"}} {
		add(t, w, names[0], names...)
		whole, _ := os.ReadFile(w.path)
		ends = append(ends, len(whole))
	}
	whole, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := reader.At(0); !ok || s.Name != "a" || reader.len() != 2 {
		t.Errorf("a reader that asks for the first task has %+v, %t, and %d tasks; want those of its call", s, ok, reader.len())
	}
	if i, ok := reader.Named("b"); !ok || i != 1 {
		t.Errorf("b is task %d, %t", i, ok)
	}
	if first, n, ok := w.Call("c"); !ok || first != 2 || n != 1 {
		t.Errorf("the call c has %d tasks from %d on, %t", n, first, ok)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(w.path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, some := range [][]string{{"a", "b"}, {"c"}} {
			if ends[i] <= cut {
				want = append(want, some...)
			}
		}
		if got := names(t, r); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut off at byte %d: %q, want %q", cut, got, want)
		}
	}
}

// TestMoreCut: what the journal has no record of is removed, so that a repeated call is not there twice.
func TestMoreCut(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	m := r.More()
	add(t, m, "1", "a", "b")
	add(t, m, "2", "c")
	if err := m.Cut(2); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := m.Call("2"); ok {
		t.Error("the call that was cut off is still known")
	}
	if got := names(t, r); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("left is %q", got)
	}
	add(t, m, "2", "c")
	again := r.More()
	if err := again.Cut(3); err != nil || !reflect.DeepEqual(names(t, r), []string{"a", "b", "c"}) {
		t.Errorf("appended again: %q, %v", names(t, r), err)
	}
	if err := again.Cut(4); err == nil || !strings.Contains(err.Error(), "the 4 tasks that the journal has") || job.CodeOf(err) != job.CodeIO {
		t.Errorf("a task is missing: %v", err)
	}
	if err := r.More().Cut(1); err == nil {
		t.Error("a part of a call was kept")
	}
}

// TestMoreDamaged: a changed byte before the last frame is an error, and no other task.
func TestMoreDamaged(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	m := r.More()
	add(t, m, "", "a")
	add(t, m, "", "a")
	b, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	b[addedHeaderSize+3] ^= 1
	if err := os.WriteFile(m.path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.More().Len(); err == nil || !strings.Contains(err.Error(), "at byte 0") {
		t.Errorf("the error is %v", err)
	}
}

// TestMoreCheck: a damaged last frame looks as one that is being written. If the journal has its tasks, it is an error that says what to do.
func TestMoreCheck(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	m := r.More()
	add(t, m, "", "a")
	add(t, m, "", "a")
	if err := r.More().Check(2); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(m.path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.More().Check(1); err != nil {
		t.Error(err)
	}
	if err := r.More().Check(2); err == nil || !strings.Contains(err.Error(), m.path) || !strings.Contains(err.Error(), "submit the job again") {
		t.Errorf("the error is %v", err)
	}
}

// TestReaderHoldsNothing: whoever only reads added tasks has none of them in memory, and finds each, in whatever order, also once the run was removed.
// Who appends has them.
func TestReaderHoldsNothing(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	writer := r.More()
	var want []string
	for call := range 4 {
		var names []string
		for i := range 3 + 10*call {
			names = append(names, fmt.Sprintf("%d-%d", call, i))
		}
		add(t, writer, "", names...)
		want = append(want, names...)
	}
	reader := r.More()
	if n, err := reader.Len(); err != nil || n != len(want) {
		t.Fatal(n, err)
	}
	if err := os.Remove(reader.path); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*More{writer, reader} {
		for k := range want {
			i := k * 7 % len(want)
			if s, ok := m.At(i); !ok || s.Name != want[i] {
				t.Errorf("task %d is %+v, %t", i, s, ok)
			}
		}
		for _, c := range m.calls {
			if held := c.encoded != nil; held != (m == writer) {
				t.Errorf("tasks are in memory: %t", held)
			}
		}
	}
}

// TestReaderTells: a task that is there and cannot be read any more is no task that is not there.
func TestReaderTells(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	add(t, r.More(), "", "a", "b")
	reader := r.More()
	if n, err := reader.Len(); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if err := os.Truncate(reader.path, addedHeaderSize); err != nil {
		t.Fatal(err)
	}
	if s, ok := reader.At(1); ok {
		t.Errorf("task 1 is %+v", s)
	}
	if err := reader.Err(); err == nil || !strings.Contains(err.Error(), reader.path) {
		t.Errorf("the error is %v", err)
	}
}
