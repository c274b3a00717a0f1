package history

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// TestForgetRun: what is forgotten is in no history and in no accuracy, and what was measured
// in it stays in the profile.
func TestForgetRun(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, filepath.Join(t.TempDir(), "db"))
	for i := range Keep + 2 { // of the first two the measurements are gone already
		r := aRun(job.ID(fmt.Sprintf("bag-%d", i+1)), i)
		r.Predicted, r.Median = &predict.Interval{Low: 20, Up: 40}, ptr(30)
		if err := saveRun(ctx, s, r, measured(float64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	before, err := s.Profile(ctx, "sim-1", "cpu/2")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{"bag-1", "bag-9", "bag-9", "bag-4711"} {
		if err := s.ForgetRun(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	after, err := s.Profile(ctx, "sim-1", "cpu/2")
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("the profile is %+v, %v; it was %+v", after, err, before)
	}
	if a, err := s.Accuracy(ctx, ""); err != nil || a.Runs != Keep {
		t.Errorf("%d runs are judged, want %d (%v)", a.Runs, Keep, err)
	}
	if _, there, err := s.Run(ctx, "bag-1"); there || err != nil {
		t.Errorf("a run without measurements has its line still (%v)", err)
	}
	if r, there, err := s.Run(ctx, "bag-9"); !there || r.Name != "" || err != nil {
		t.Errorf("the line of measurements that count is %+v, there %t (%v)", r, there, err)
	}
	if err := (*Store)(nil).ForgetRun(ctx, "bag-1"); err != nil {
		t.Errorf("without a store: %v", err)
	}
}
