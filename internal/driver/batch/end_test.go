package batch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/job"
)

// TestUntold: a job that is ending is not judged before anything tells why, unless that takes long.
func TestUntold(t *testing.T) {
	silent := Verdict{Script: true}
	for _, c := range []struct {
		name    string
		is      Verdict
		file    string
		patient bool
	}{
		{"nothing is told", silent, "", true},
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
		if got := a.untold(c.is, at); got != c.patient {
			t.Errorf("%s: untold is %t", c.name, got)
		}
		if got := a.untold(c.is, at.Add(tellTime-1)); got != c.patient {
			t.Errorf("%s, and that is all: untold is %t", c.name, got)
		}
		if a.untold(c.is, at.Add(tellTime)) {
			t.Errorf("%s: it is waited for longer than that", c.name)
		}
	}
}
