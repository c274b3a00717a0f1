package test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFromSacct: the history of a Slurm's queue is read from a file in the form of sacct, a second time with the same result, and not
// while a coordinator runs. A plan counts its jobs.
func TestFromSacct(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skipf("it runs if %s is set, as make soak does", roundsVar)
	}
	t.Parallel()
	w, _ := systems[0].world(t, 1)
	w.write("jobs.txt", pastJobs(30))
	for range 2 {
		if r := w.must("server", "start", "--from-sacct", "jobs.txt"); !strings.Contains(r.stderr, "30 ended jobs and 30 arrivals are known") {
			t.Fatal(r)
		}
		if r := w.berth("server", "start", "--from-sacct", "jobs.txt"); r.code != 1 || !strings.Contains(r.stderr, "a coordinator runs") {
			t.Fatal(r)
		}
		w.must("server", "stop")
	}
	if r := w.must("plan", "bag", "--on", "slurm", "--exclusive", "--array", "1-4", "--json", "--", "true"); !strings.Contains(r.stdout, `"history_jobs":30`) {
		t.Fatal(r)
	}
}

// pastJobs is what sacct prints of jobs of an hour that had a limit of an hour.
func pastJobs(n int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "JobID|User|Partition|NNodes|TimelimitRaw|Submit|End|ElapsedRaw")
	for i := range n {
		end := time.Now().Add(-time.Duration(60-i) * time.Minute)
		fmt.Fprintf(&b, "%d|ann|main|1|60|%s|%s|3600\n", i+1, end.Add(-time.Hour).Format("2006-01-02T15:04:05"), end.Format("2006-01-02T15:04:05"))
	}
	return b.String()
}
