package statedir

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/job/task"
)

func added(t *testing.T, key string, names ...string) Added {
	t.Helper()
	specs := make([]task.Spec, len(names))
	for i, name := range names {
		specs[i] = task.Spec{Name: name, Command: []string{"true"}, Needs: task.Needs{CPUs: 2}}
	}
	tasks, err := Encode(specs)
	if err != nil {
		t.Fatal(err)
	}
	return Added{Key: key, Tasks: tasks}
}

// TestAdded: calls are read as they were appended. Wherever a crash cuts the file off, the complete ones are read.
func TestAdded(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	if none, err := r.CutAdded(0); err != nil || len(none) > 0 {
		t.Fatalf("without a file: %v, %v", none, err)
	}
	want := []Added{added(t, "k1", "a", "b"), added(t, "", "c")}
	var ends []int
	for _, a := range want {
		if err := r.Append(a); err != nil {
			t.Fatal(err)
		}
		whole, _ := os.ReadFile(r.added())
		ends = append(ends, len(whole))
	}
	whole, err := os.ReadFile(r.added())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) + 1 {
		if err := os.WriteFile(r.added(), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		for n < len(ends) && ends[n] <= cut {
			n++
		}
		if got, err := r.Added(); err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got, want[:n]) {
			t.Fatalf("cut off at byte %d: %v, %v, want %v", cut, got, err, want[:n])
		}
	}
	s, err := Decode(want[1].Tasks[0])
	if err != nil || !reflect.DeepEqual(s, task.Spec{Name: "c", Command: []string{"true"}, Needs: task.Needs{CPUs: 2}}) {
		t.Errorf("decoded: %+v, %v", s, err)
	}
}

// TestCutAdded: what the journal has no record of is removed, so that a repeated call is not there twice.
func TestCutAdded(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	first, second := added(t, "1", "a", "b"), added(t, "2", "c")
	for _, a := range []Added{first, second} {
		if err := r.Append(a); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.CutAdded(2); err != nil || !reflect.DeepEqual(got, []Added{first}) {
		t.Fatalf("%v, %v", got, err)
	}
	if err := r.Append(second); err != nil {
		t.Fatal(err)
	}
	if got, err := r.CutAdded(3); err != nil || !reflect.DeepEqual(got, []Added{first, second}) {
		t.Errorf("appended again: %v, %v", got, err)
	}
	if _, err := r.CutAdded(4); err == nil || !strings.Contains(err.Error(), "1 task that the journal has") || job.CodeOf(err) != job.CodeIO {
		t.Errorf("a task is missing: %v", err)
	}
}

// TestAddedDamaged: a changed byte before the last frame is an error, and no other task.
func TestAddedDamaged(t *testing.T) {
	r := Run{Dir: t.TempDir()}
	for range 2 {
		if err := r.Append(added(t, "", "a")); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(r.added())
	if err != nil {
		t.Fatal(err)
	}
	b[addedHeaderSize+3] ^= 1
	if err := os.WriteFile(r.added(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Added(); err == nil || !strings.Contains(err.Error(), "at byte 0") {
		t.Errorf("the error is %v", err)
	}
}
