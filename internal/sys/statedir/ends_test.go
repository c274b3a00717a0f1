package statedir

import (
	"os"
	"testing"

	"berth/internal/core/job"
)

// TestEnds: a run has ended when its summary was written, and has not if that is missing or empty, or if the run is gone.
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
	ends := h.Ends(runs)
	info, err := os.Stat(runs[3].Summary())
	if err != nil || !ends[0].IsZero() || !ends[1].IsZero() || !ends[2].IsZero() || !ends[3].Equal(info.ModTime()) {
		t.Errorf("the ends are %v, %v", ends, err)
	}
}
