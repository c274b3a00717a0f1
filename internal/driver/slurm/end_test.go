package slurm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/job"
)

// TestUntold: a job that is ending is not judged before anything tells why, unless that takes long.
func TestUntold(t *testing.T) {
	silent := watched{state: "COMPLETING", reason: "None"}
	for _, c := range []struct {
		name    string
		is      watched
		file    string // beside the empty log
		text    string
		patient bool
	}{
		{"nothing is told", silent, "", "", true},
		{"another word of Slurm's", silent, slurmLog, "srun: Job step aborted\n", true},
		{"the node tells", silent, slurmLog, "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n", false},
		{"a worker has ended", silent, "1" + endedEnd, "", false},
		{"a worker was given up", silent, "0" + failedEnd, "", false},
		{"its script failed", watched{state: "COMPLETING", status: 1}, "", "", false},
		{"its script was killed", watched{state: "COMPLETING", signal: 15}, "", "", false},
		{"its time is over", watched{state: "COMPLETING", reason: "TimeLimit"}, "", "", false},
		{"it was cancelled", watched{state: "CANCELLED"}, "", "", false},
	} {
		a := &alloc{id: "a1", dir: t.TempDir(), req: job.AllocRequest{Nodes: 2}}
		for file, text := range map[string]string{slurmLog: "", c.file: c.text} {
			if file == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(a.dir, file), []byte(text), 0o600); err != nil {
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
