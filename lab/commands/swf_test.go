package commands

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"berth/internal/simulate/workload/swf"
	"berth/test/support/tracetest"
)

// simulated is the output of berth-lab swf --json, with the keys that scripts use.
type simulated struct {
	Jobs        int     `json:"jobs"`
	Wait        float64 `json:"mean_wait_s"`
	Turnaround  float64 `json:"mean_turnaround_s"`
	BSLD        float64 `json:"ave_bsld"`
	Utilization float64 `json:"utilization"`
	Makespan    float64 `json:"makespan_s"`
	Wall        float64 `json:"wall_s"`
	Skipped     int     `json:"skipped"`
	Filtered    int     `json:"filtered"`
	Killed      int     `json:"killed"`
}

func (w *world) simulate(args ...string) simulated {
	w.t.Helper()
	r := w.must(append([]string{"swf", "--json"}, args...)...)
	if r.stderr != "" {
		w.t.Errorf("%q says %q", args, r.stderr)
	}
	var s simulated
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	if err := dec.Decode(&s); err != nil {
		w.t.Fatalf("%v: %s", err, r.stdout)
	}
	return s
}

// TestReference compares with an independent simulator's results for the SDSC SP2 log.
func TestReference(t *testing.T) {
	filtered := tracetest.Path(t, tracetest.SDSCFiltered)
	w := newWorld(t)
	for _, row := range []struct {
		policy, estimates string
		wait, bsld        float64
		equal             bool // equal to the printed digits
	}{
		{"cbf", "exact", 18412.74, 66.79, true},
		{"cbf", "user", 21887.65, 89.64, false},
		{"easy", "exact", 17330.03, 70.41, false},
		{"easy", "user", 20494.74, 87.83, false},
		{"easy-sjbf", "user", 20790.63, 84.84, false},
		{"fcfs", "user", 1535707, 13824.97, false},
	} {
		s := w.simulate(filtered, "--policy", row.policy, "--estimates", row.estimates)
		wait, bsld := 0.005*row.wait, 0.02*row.bsld
		if row.equal {
			wait, bsld = 0.005, 0.005
		}
		if s.Jobs != 53999 || math.Abs(s.Wait-row.wait) > wait || math.Abs(s.BSLD-row.bsld) > bsld {
			t.Errorf("%s with %s estimates: %d jobs, mean wait %.2f s, AVEbsld %.2f, want %.2f and %.2f",
				row.policy, row.estimates, s.Jobs, s.Wait, s.BSLD, row.wait, row.bsld)
		}
		if s.Makespan <= 0 || s.Utilization <= 0.7 || s.Utilization > 1 || s.Turnaround <= s.Wait || s.Wall <= 0 {
			t.Errorf("%s: %+v", row.policy, s)
		}
	}
}

// TestOracle compares the schedule that the command writes, job by job. It uses the
// cleaned log with its filter in place of the filtered log.
func TestOracle(t *testing.T) {
	oracle, cleaned := tracetest.Schedule(t, tracetest.OracleCBF), tracetest.Path(t, tracetest.SDSC)
	w := newWorld(t)
	s := w.simulate(cleaned, "--filter", "--policy", "cbf", "--estimates", "exact", "--out", "ours.swf.gz")
	if s.Jobs != 53999 || s.Filtered != 59715-53999 {
		t.Errorf("%+v", s)
	}
	want, err := swf.Read(oracle, tracetest.OracleCBF, swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := swf.Open(filepath.Join(w.dir, "ours.swf.gz"), swf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := got.Header.Get("Installation"); v != "SDSC" {
		t.Errorf("the header is lost: %q", got.Header)
	}
	waits := map[time.Duration]swf.Fields{}
	for _, j := range want.Jobs {
		waits[j.Fields[swf.Number]] = j.Fields
	}
	wrong := 0
	for _, j := range got.Jobs {
		if f, o := j.Fields, waits[j.Fields[swf.Number]]; o[swf.Wait] != f[swf.Wait] || o[swf.Run] != f[swf.Run] || o[swf.Procs] != f[swf.Procs] || o[swf.Request] != f[swf.Request] {
			wrong++
		}
	}
	if len(waits) != len(got.Jobs) || wrong > 0 {
		t.Errorf("%d jobs, the oracle has %d; %d differ", len(got.Jobs), len(waits), wrong)
	}
}

// toyLog is four processors: one job on three, one on all, and a third that fits beside the first.
const toyLog = `; Computer: Toy
; MaxProcs: 4
1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 5 1 -1 -1 -1
2 1 -1 50 4 -1 -1 4 50 -1 1 7 1 -1 1 -1 -1 -1
3 2 -1 60.5 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1
`

// TestOut compares written schedules with schedules that were computed by hand.
func TestOut(t *testing.T) {
	w := newWorld(t)
	w.write("toy.swf", toyLog)
	w.write("stale.csv", "of old")
	s := w.simulate("toy.swf", "--policy", "easy", "--out", "stale.csv")
	want := simulated{Jobs: 3, Killed: 1, Wait: 33, Turnaround: 103, BSLD: 1.66, Utilization: 0.933333, Makespan: 150, Wall: s.Wall}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if got, want := w.read("stale.csv"), `job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
1,toy,5,0,3,100,1,COMPLETED_SUCCESSFULLY,0,100,100,0,100,1.000000,,-1,
2,toy,,1,4,50,1,COMPLETED_SUCCESSFULLY,100,50,150,99,149,2.980000,,-1,
3,toy,6,2,1,60,0,COMPLETED_WALLTIME_REACHED,2,60,62,0,60,1.000000,,-1,
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w.simulate("toy.swf", "--policy", "fcfs", "--estimates", "exact", "--nodes", "5", "--out", "out.swf")
	if got, want := w.read("out.swf"), `; Computer: Toy
; MaxProcs: 4
; Note: wait and run times are those of a simulation: fcfs, exact estimates, 5 processors
1 0 0 100 3 -1 -1 3 100 -1 1 7 1 5 1 -1 -1 -1
2 1 99 50 4 -1 -1 4 50 -1 1 7 1 -1 1 -1 -1 -1
3 2 98 60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	table := w.must("swf", "toy.swf")
	if want := `POLICY  ESTIMATES  NODES  JOBS  KILLED  MEAN WAIT s  MEAN TURNAROUND s  AVEBSLD  UTILIZATION  MAKESPAN s
easy    user           4     3       1        33.00             103.00     1.66      93.33 %         150
`; table.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", table.stdout, want)
	}
	w.stdin = squeezed(t, toyLog)
	if piped := w.must("swf", "-"); piped.stdout != table.stdout {
		t.Errorf("from standard input: %v", piped)
	}
}

func squeezed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSkips checks that invalid lines are skipped if the user asks for it, and that they are counted.
func TestSkips(t *testing.T) {
	w := newWorld(t)
	w.write("toy.swf", toyLog+"4 3 -1 -60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1\n5 3 -1 60 9 -1 -1 9 60 -1 1 8 1 6 1 -1 -1 -1\n")
	if s := w.simulate("toy.swf", "--odd", "skip"); s.Jobs != 3 || s.Skipped != 2 {
		t.Errorf("%+v", s)
	}
	r := w.must("swf", "toy.swf", "--odd", "skip")
	if want := "left out: toy.swf:6: the run time is negative: -60 s\nleft out: toy.swf:7: the job needs 9 processors, but the cluster has 4\n3 jobs in "; !strings.HasPrefix(r.stderr, want) {
		t.Errorf("said %q, want %q", r.stderr, want)
	}
	w.write("toy.swf", toyLog+strings.Repeat("4 3 -1 60 9 -1 -1 9 60 -1 1 8 1 6 1 -1 -1 -1\n", 21))
	r = w.must("swf", "toy.swf", "--odd", "skip")
	if want := "left out: toy.swf:25: the job needs 9 processors, but the cluster has 4\nand so on: 21 odd lines were left out\n3 jobs in "; !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "toy.swf:26:") {
		t.Errorf("said %q, want %q", r.stderr, want)
	}
}

// TestBadInput checks that one line says where the error is, that the exit code is 3, and that no file is written.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	var long strings.Builder
	long.WriteString(toyLog)
	for range 5000 {
		long.WriteString("4 3 -1 60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1\n")
	}
	whole := squeezed(t, long.String())
	for _, test := range []struct {
		name, log string
		args      []string
		want      string // the line's beginning, as printed
	}{
		{"negative run time", toyLog + "4 3 -1 -60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1\n", nil, "bad.swf:6: the run time is negative: -60 s; "},
		{"larger than the cluster", toyLog + "4 3 -1 60 5 -1 -1 5 60 -1 1 8 1 6 1 -1 -1 -1\n", nil, "bad.swf:6: the job needs 5 processors, but the cluster has 4; "},
		{"larger than --nodes", toyLog, []string{"--nodes", "3"}, "bad.swf:4: the job needs 4 processors, but the cluster has 3; "},
		{"out of order", toyLog + "4 1 -1 60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1\n", nil, "bad.swf:6: submitted at 1 s, before the job of line 5 (2 s)"},
		{"no log", "job,submit\n", nil, "bad.swf:1: the line has 1 fields instead of 18; "},
		{"truncated gzip", string(whole[:len(whole)-9]), nil, "bad.swf:5006: the compressed file ends here"},
		{"comments only", "; MaxProcs: 4\n", nil, "bad.swf: there is no job in it"},
		{"empty", "", nil, "bad.swf: there is no job in it"},
		{"odd lines only", "; MaxProcs: 4\n1 2\n", []string{"--odd", "skip"}, "bad.swf: there is no job in it that can be simulated; 1 odd lines were left out, the first: line 2: the line has 2 fields instead of 18"},
		{"filtered all", "; MaxProcs: 4\n1 0 -1 0 3 -1 -1 3 100 -1 1 7 1 5 1 -1 -1 -1\n", []string{"--filter"}, "bad.swf: there is no job in it that can be simulated; the filter left out 1 jobs"},
		{"no cluster", "1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 5 1 -1 -1 -1\n", nil, "bad.swf: its header does not give the number of processors of the cluster; "},
		{"unknown policy", toyLog, []string{"--policy", "magic"}, `--policy: there is no policy "magic"`},
		{"unknown estimates", toyLog, []string{"--estimates", "wild"}, `--estimates: there are no estimates "wild"`},
		{"unknown choice", toyLog, []string{"--odd", "mend"}, `--odd: "mend" is not a way to handle odd lines`},
		{"no nodes", toyLog, []string{"--nodes", "-1"}, "--nodes: a cluster cannot have -1 nodes"},
		{"unknown extension", toyLog, []string{"--out", "out.txt"}, `--out: the extension of "out.txt" is not known`},
	} {
		w.write("bad.swf", test.log)
		args := append([]string{"swf", "bad.swf", "--out", "out.csv"}, test.args...)
		r := w.run(args...)
		if r.code != 3 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, test.want) {
			t.Errorf("%s: %v", test.name, r)
		}
		files, err := os.ReadDir(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 {
			t.Errorf("%s: left behind: %v", test.name, files)
		}
	}
	if r := w.run("swf", "none.swf"); r.code != 2 || !strings.Contains(r.stderr, "none.swf") {
		t.Errorf("no such file: %v", r)
	}
	w.write("toy.swf", toyLog)
	if r := w.run("swf", "toy.swf", "--out", "nowhere/out.csv"); r.code != 5 || r.stdout != "" ||
		r.stderr != "nowhere/out.csv: cannot write: no such file or directory\n" {
		t.Errorf("no such folder: %v", r)
	}
}
