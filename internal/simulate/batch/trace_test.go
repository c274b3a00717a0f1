package batch

import (
	"math"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/swf"
	"berth/test/support/tracetest"
)

// read returns the jobs of a trace.
func read(t testing.TB, path string, e swf.Estimates) []workload.Rigid {
	t.Helper()
	log, err := swf.Open(path, swf.Options{Estimates: e})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := log.Rigid(swf.Options{Estimates: e})
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

// sdsc returns the jobs of the filtered trace of SDSC SP2.
func sdsc(t testing.TB, exact bool) []workload.Rigid {
	t.Helper()
	e := swf.User
	if exact {
		e = swf.Exact
	}
	return read(t, tracetest.Path(t, tracetest.SDSCFiltered), e)
}

// oracle returns each job's wait in another simulator, by job ID.
func oracle(t testing.TB, name string) map[int64]time.Duration {
	t.Helper()
	log, err := swf.Read(tracetest.Schedule(t, name), name, swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	waits := map[int64]time.Duration{}
	for i := range log.Jobs {
		waits[int64(log.Jobs[i].Fields[swf.Number]/time.Second)] = log.Jobs[i].Fields[swf.Wait]
	}
	return waits
}

// means returns the mean wait in seconds and AVEbsld (package metrics).
func means(jobs []workload.Rigid, starts []job.Time) (wait, bsld float64) {
	for i, at := range starts {
		w, run := at.Sub(jobs[i].Submit).Seconds(), jobs[i].Run.Seconds()
		wait += w
		bsld += max(1, (w+run)/max(run, 10))
	}
	return wait / float64(len(jobs)), bsld / float64(len(jobs))
}

// TestReference compares means with those of an independent simulator. With estimated wall times
// that simulator may handle the events of one instant in another order; see TestPyss.
func TestReference(t *testing.T) {
	for _, c := range []struct {
		policy     Policy
		exact      bool
		wait, bsld float64 // mean wait in seconds, AVEbsld
		within     float64 // tolerance as a fraction of the wait; for AVEbsld four times this
	}{
		{FCFS, false, 1535707, 13824.97, 0.0005},
		{CBF, false, 21887.65, 89.64, 0.005},
		{CBF, true, 18412.74, 66.79, 0.0005},
		{EASY, true, 17330.03, 70.41, 0.0005},
		{EASY, false, 20494.74, 87.83, 0.0005},
		{EASYSJBF, false, 20790.63, 84.84, 0.0005},
	} {
		jobs := sdsc(t, c.exact)
		wait, bsld := means(jobs, Replay(128, c.policy, jobs))
		t.Logf("%s: %.2f s, %.2f", c.policy, wait, bsld)
		if math.Abs(wait/c.wait-1) > c.within || math.Abs(bsld/c.bsld-1) > 4*c.within {
			t.Errorf("%s: mean wait %.2f s, AVEbsld %.2f; want %.2f and %.2f", c.policy, wait, bsld, c.wait, c.bsld)
		}
	}
}

// TestOracle compares each wait, with exact wall times, with that of the oracle. Conservative
// backfilling then has a unique result.
func TestOracle(t *testing.T) {
	for p, name := range map[Policy]string{CBF: tracetest.OracleCBF, EASY: tracetest.OracleEASY} {
		want, jobs := oracle(t, name), sdsc(t, true)
		if len(want) != len(jobs) || len(jobs) != 53999 {
			t.Fatalf("%d jobs, the oracle has %d", len(jobs), len(want))
		}
		bad := 0
		for i, at := range Replay(128, p, jobs) {
			if wait := at.Sub(jobs[i].Submit); wait != want[jobs[i].ID] {
				bad++
				t.Logf("%s: job %d waits %v, want %v", p, jobs[i].ID, wait, want[jobs[i].ID])
			}
		}
		if bad > 0 {
			t.Errorf("%s: %d waits differ", p, bad)
		}
	}
}

// TestPyss replays the trace with the users' estimates in the order of pyss, in which arrivals come
// before ends. The means agree in all known digits, or all but the last.
func TestPyss(t *testing.T) {
	for _, c := range []struct {
		policy     Policy
		wait, bsld float64
		within     float64
	}{{CBF, 21887.65, 89.64, 0.005}, {EASY, 20494.74, 87.83, 0.005}, {EASYSJBF, 20790.63, 84.84, 0.05}} {
		jobs := sdsc(t, false)
		wait, bsld := means(jobs, play(New(128, c.policy), jobs, true))
		if math.Abs(wait-c.wait) > c.within || math.Abs(bsld-c.bsld) > 0.005 {
			t.Errorf("%s: mean wait %.2f s, AVEbsld %.2f; want %.2f and %.2f", c.policy, wait, bsld, c.wait, c.bsld)
		}
	}
}
