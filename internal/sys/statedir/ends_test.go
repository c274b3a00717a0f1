package statedir

import (
	"errors"
	"os"
	"testing"

	"berth/internal/core/job"
)

// TestEnds: a run has ended when its summary was written, and has not if that is missing, empty or not marked as archived, or if the run
// is gone.
func TestEnds(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	if ends := h.Ends([]Run{h.Run("bag-1")}); len(ends) != 1 || !ends[0].IsZero() {
		t.Errorf("without a folder of runs: %v", ends)
	}
	if err := os.Mkdir(h.Runs(), 0o700); err != nil {
		t.Fatal(err)
	}
	runs := []Run{h.Run("bag-9")}
	for _, summary := range []string{"none", "", "{}"} {
		r, err := h.NewRun(job.Bag, nil)
		if err == nil && summary != "none" {
			err = os.WriteFile(r.Summary(), []byte(summary), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	ending := h.Run("bag-8")
	if err := errors.Join(os.Mkdir(ending.Dir, 0o700), ending.WriteSummary("x"), ending.WriteSummary("y")); err != nil {
		t.Fatal(err)
	}
	var said string
	if end := h.Ends([]Run{ending})[0]; !end.IsZero() || ReadJSON(ending.Summary(), &said) != nil || said != "y" {
		t.Errorf("before it is archived the end is %v, and its summary says %q", end, said)
	}
	if err := ending.MarkArchived(); err != nil || h.Ends([]Run{ending})[0].IsZero() {
		t.Errorf("an archived run has not ended, %v", err)
	}
	if left, err := os.ReadDir(ending.Dir); len(left) != 1 {
		t.Errorf("beside the summary there is %v, %v", left, err)
	}
	ends := h.Ends(runs)
	info, err := os.Stat(runs[3].Summary())
	if err != nil || !ends[0].IsZero() || !ends[1].IsZero() || !ends[2].IsZero() || !ends[3].Equal(info.ModTime()) {
		t.Errorf("the ends are %v, %v", ends, err)
	}
}
