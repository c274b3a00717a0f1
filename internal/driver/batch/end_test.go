package batch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/core/job"
)

// TestReasonPending checks that the driver waits for the reason why a job is ending, but not for long.
func TestReasonPending(t *testing.T) {
	silent := Verdict{Script: true}
	for _, c := range []struct {
		name    string
		is      Verdict
		file    string
		patient bool
	}{
		{"no reason is known", silent, "", true},
		{"a worker has ended", silent, "1" + EndedEnd, false},
		{"a worker was given up", silent, "0" + FailedEnd, false},
		{"its script failed", Verdict{Script: true, Failed: true}, "", false},
		{"it was cancelled", Verdict{Reason: "it was cancelled"}, "", false},
	} {
		a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 2}}
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(a.dir, c.file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		at := job.Time(time.Hour)
		if got := a.reasonPending(c.is, at); got != c.patient {
			t.Errorf("%s: reasonPending is %t", c.name, got)
		}
		if got := a.reasonPending(c.is, at.Add(reasonPatience-1)); got != c.patient {
			t.Errorf("%s, and nothing follows: reasonPending is %t", c.name, got)
		}
		if a.reasonPending(c.is, at.Add(reasonPatience)) {
			t.Errorf("%s: the driver still waits after reasonPatience", c.name)
		}
	}
}
