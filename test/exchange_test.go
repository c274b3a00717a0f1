package test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/test/support/slurmtest"
)

// TestExchange: on a Slurm whose four nodes others have for an hour, a bag's request for all nodes waits. When one of the others is
// cancelled, one node is free, on which the request cannot start. Berth requests that node in its place, all tasks run there, and
// nothing of the old request is left. The coordinator is killed as soon as the new request is there, which changes nothing.
func TestExchange(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skipf("it takes six minutes, as requests are reviewed after two: it runs if %s is set, as make soak does", roundsVar)
	}
	t.Parallel()
	w, c := systems[0].world(t, 4)
	bed := c.(slurm).Cluster
	w.write("jobs.txt", pastJobs(30))
	w.must("server", "start", "--from-sacct", "jobs.txt")
	bag := []string{"bag", "--on", "slurm", "--exclusive", "--max-allocs", "1", "--no-scout"}
	w.must(append(bag, "--array", "1-8", "--", "sleep", "15")...) // it is known from then on how long a task takes
	wide := bed.Fill(t, slurmtest.Load{Nodes: 3, CPUs: 2, Limit: 60, Seconds: 3600})
	narrow := bed.Fill(t, slurmtest.Load{Nodes: 1, CPUs: 2, Limit: 60, Seconds: 3600})
	bed.WaitState(t, wide, "RUNNING")
	bed.WaitState(t, narrow, "RUNNING")

	id := job.ID(strings.TrimSpace(w.must(append(bag, "--array", "1-24", "--detach", "--", "sleep", "15")...).stdout))
	watch := w.start("wait", string(id)) // which starts a coordinator when there is none
	view := func() (v report.JobView) {
		if err := json.Unmarshal([]byte(w.must("report", string(id), "--json").stdout), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	requests := func() []report.AllocView { return view().Allocs }
	w.await("the request to wait", func() bool { return len(requests()) == 1 && requests()[0].Note != "" })
	if n := requests()[0].Nodes; n < 2 {
		t.Fatalf("%d nodes are requested", n)
	}
	bed.Cancel(t, narrow)
	w.await("another request", func() bool { return len(requests()) == 2 })
	w.kill("coordinator", nil)
	w.await("the old request to be given back", func() bool {
		a := requests() // none while no coordinator is there
		return len(a) == 2 && a[0].State == report.AllocOver
	})
	if a := requests(); !strings.HasPrefix(a[0].Reason, "exchanged for ") || a[1].Nodes != 1 {
		t.Fatalf("%+v", a)
	}
	if r := w.finish(watch); r.code != 0 {
		t.Fatal(r)
	}
	w.await("the queue to have the job of others alone", func() bool { q, err := c.queue(); return err == nil && len(q) == 1 })
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
