package batch

import (
	"bufio"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// open returns the lines of a trace that are not comments, and skips where there is none.
func lines(t testing.TB, name string) [][]string {
	t.Helper()
	dir := os.Getenv("BERTH_TRACES")
	if dir == "" {
		dir = "../../../../shared/traces"
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skip("no traces: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for s := bufio.NewScanner(z); s.Scan(); {
		if !strings.HasPrefix(s.Text(), ";") {
			all = append(all, strings.Fields(s.Text()))
		}
	}
	return all
}

func number(t testing.TB, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sdsc returns the jobs of the filtered trace of SDSC SP2.
func sdsc(t testing.TB, exact bool) []workload.Rigid {
	var jobs []workload.Rigid
	for _, f := range lines(t, "SDSC-SP2-filtered-53999.swf.gz") {
		j := workload.Rigid{
			ID: number(t, f[0]), Submit: job.Time(number(t, f[1])) * job.Time(time.Second),
			Nodes: int(number(t, f[4])), Run: time.Duration(number(t, f[3])) * time.Second, Request: time.Duration(number(t, f[8])) * time.Second,
		}
		if exact {
			j.Request = j.Run
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// means returns the mean wait in seconds and AVEbsld (models.md, section 3).
func means(jobs []workload.Rigid, starts []job.Time) (wait, bsld float64) {
	for i, at := range starts {
		w, run := at.Sub(jobs[i].Submit).Seconds(), jobs[i].Run.Seconds()
		wait += w
		bsld += max(1, (w+run)/max(run, 10))
	}
	return wait / float64(len(jobs)), bsld / float64(len(jobs))
}

// TestReference compares means with those of an independent simulator.
func TestReference(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		exact  bool
		wait   float64 // mean, in seconds
		bsld   float64 // AVEbsld
	}{
		{FCFS, false, 1535707, 13824.97},
		{CBF, false, 21887.65, 89.64},
		{CBF, true, 18412.74, 66.79},
	} {
		jobs := sdsc(t, c.exact)
		wait, bsld := means(jobs, Replay(128, c.policy, jobs))
		t.Logf("%s: %.2f s, %.2f", c.policy, wait, bsld)
		if math.Abs(wait/c.wait-1) > 0.005 || math.Abs(bsld/c.bsld-1) > 0.02 {
			t.Errorf("%s: mean wait %.2f s, AVEbsld %.2f; want %.2f and %.2f", c.policy, wait, bsld, c.wait, c.bsld)
		}
	}
}

// TestOracle compares each wait under conservative backfilling with exact requests, to which
// there is one right answer.
func TestOracle(t *testing.T) {
	want := map[int64]int64{}
	for _, f := range lines(t, "oracle-cbf-exact-sdsc.swf.gz") {
		want[number(t, f[0])] = number(t, f[2])
	}
	jobs := sdsc(t, true)
	if len(want) != len(jobs) {
		t.Fatalf("%d jobs, the oracle has %d", len(jobs), len(want))
	}
	for i, at := range Replay(128, CBF, jobs) {
		if wait := at.Sub(jobs[i].Submit); wait != time.Duration(want[jobs[i].ID])*time.Second {
			t.Fatalf("job %d waits %v, want %d s", jobs[i].ID, wait, want[jobs[i].ID])
		}
	}
}
