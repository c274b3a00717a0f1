package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// way is a row of the output of berth simulate run --json, as far as these tests check it.
type way struct {
	Way        string `json:"way"`
	Jobs       mean   `json:"jobs"`
	Turnaround mean   `json:"turnaround_s"`
	HPCJobs    mean   `json:"hpc_jobs"`
	Under      *mean  `json:"under_first"`
}

type mean struct {
	Mean *float64 `json:"mean"`
	Half *float64 `json:"half_width"`
}

func waysOf(t *testing.T, stdout string) map[string]way {
	t.Helper()
	var r struct {
		Ways []way `json:"ways"`
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	ways := map[string]way{}
	for _, v := range r.Ways {
		ways[v.Way] = v
	}
	return ways
}

// toyLog is four processors: one job on three, one on all, and a third that fits beside the first.
const toyLog = `; Computer: Toy
; MaxProcs: 4
1 0 -1 100 3 -1 -1 3 100 -1 1 7 1 5 1 -1 -1 -1
2 1 -1 50 4 -1 -1 4 50 -1 1 7 1 -1 1 -1 -1 -1
3 2 -1 60.5 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1
`

// TestSimulateRunExample checks that the example gives the documented result, however many runs are made at once.
func TestSimulateRunExample(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	example, err := filepath.Abs("../examples/simulate/own-cluster.toml")
	if err != nil {
		t.Fatal(err)
	}
	one := w.must("simulate", "run", example, "--jobs", "1", "--out", "one")
	four := w.must("simulate", "run", example, "--jobs", "4", "--out", "four")
	if one.stdout != four.stdout {
		t.Errorf("one at once:\n%s\nfour:\n%s", one.stdout, four.stdout)
	}
	for _, name := range []string{"run.txt", "run.json", "ways.csv", "jobs.csv"} {
		if a, b := w.read(filepath.Join("one", name)), w.read(filepath.Join("four", name)); a != b || a == "" {
			t.Errorf("%s is not the same", name)
		}
	}
	if got := w.read("one/run.txt"); got != one.stdout {
		t.Errorf("run.txt has\n%s", got)
	}
	ways := waysOf(t, w.read("one/run.json"))
	naive, berth := ways["naive"], ways["berth"]
	if len(ways) != 6 || *ways["none"].HPCJobs.Mean != *berth.HPCJobs.Mean || *berth.Jobs.Mean != 13 {
		t.Errorf("%+v", ways)
	}
	if *berth.Turnaround.Mean > 0.2**naive.Turnaround.Mean || *berth.Under.Mean < 0.8 || naive.Under != nil {
		t.Errorf("naive %+v, berth %+v", *naive.Turnaround.Mean, *berth.Turnaround.Mean)
	}
	if other := w.must("simulate", "run", example, "--seed", "2"); other.stdout == one.stdout {
		t.Error("another seed comes to the same")
	}
}

const accounting = `JobID|User|Submit|Start|End|State|NNodes|TimelimitRaw|ElapsedRaw
1|ann|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T12:00:00|COMPLETED|6|180|7200
2|bob|2024-03-01T10:10:00|2024-03-01T12:00:00|2024-03-01T12:30:00|COMPLETED|8|60|1800
3|bob|2024-03-01T18:00:00|2024-03-01T18:00:00|2024-03-01T18:30:00|COMPLETED|2|60|1800
`

// TestSimulateRunAccounting simulates the jobs of an accounting log.
func TestSimulateRunAccounting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("simulate", "run", "--from-sacct", "-", "--nodes", "8", "--maps", "40", "--map-time", "60s+-20s",
		"--reduces", "2", "--reduce-time", "2m", "--spread", "4", "--out", "jobs.csv", "--json")
	cmd.Stdin = strings.NewReader(accounting)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if want := "the queue's maximum wall time is assumed to be the longest request in the log, 3h\n"; stderr.String() != want {
		t.Errorf("said %q", stderr.String())
	}
	ways := waysOf(t, string(out))
	for _, name := range []string{"naive", "paper", "berth", "shared", "yield"} {
		if v := ways[name]; v.Jobs.Mean == nil || *v.Jobs.Mean != 4 || *v.HPCJobs.Mean != 3 || *v.Turnaround.Mean < 300 {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if lines := strings.Count(w.read("jobs.csv"), "\n"); lines != 1+6*3+5*4 {
		t.Errorf("jobs.csv has %d lines", lines)
	}
}

// TestSimulateRunBadInput checks that one line says where the error is, that the exit code is right, and that no file is written.
func TestSimulateRunBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("toy.swf", toyLog)
	w.write("empty.swf", "")
	w.write("idle.txt", "JobID|User|Submit|Start|End|State|NNodes|TimelimitRaw|ElapsedRaw\n1|ann|2024-03-01T10:00:00|Unknown|Unknown|PENDING|6|180|0\n")
	const cluster, bag = "[cluster]\nnodes = 4\n", "[[elastic]]\nmaps = 3\nmap_time = \"2m\"\n"
	for _, test := range []struct {
		name, scenario string
		args           []string
		code           int
		want           string
	}{
		{"unknown key", cluster + "polcy = \"cbf\"\n" + bag, nil, 3, `s.toml:3: unknown key "polcy"; did you mean "policy"?`},
		{"short queue", cluster + "max_time = \"1m\"\n" + bag, nil, 3, "s.toml:3: the queue accepts wall times of up to 1m, but a task of s.toml:4 needs 2m5s; allow more time"},
		{"short queue by flag", cluster + bag, []string{"--max-time", "1m"}, 3, "--max-time: the queue accepts wall times of up to 1m, but a task of s.toml:3 needs 2m5s; allow more time"},
		{"large job", cluster + "[[rigid]]\njobs = [{nodes = 5, run = \"1h\"}]\n", nil, 3, "s.toml:4: job 1 needs 5 nodes, but the cluster has 4"},
		{"large job of a log", bag, []string{"--from-swf", "toy.swf", "--nodes", "3"}, 3, "toy.swf:4: the job needs 4 processors, but the cluster has 3; correct the line, or skip odd lines"},
		{"no TOML", "[cluster\n", nil, 3, "s.toml:1: expected ']' to close table name"},
		{"no scenario", "", nil, 2, "s.toml"},
		{"bad flag", cluster + bag, []string{"--maps", "3", "--map-time", "soon"}, 3, `--map-time: "soon" is not a duration`},
		{"wrong table", cluster + bag + "[faults]\nstart_up = \"5s\"\n", nil, 3, `s.toml:7: unknown key "start_up"; it belongs to [cluster]`},
		{"flag of another log", bag, []string{"--from-sacct", "toy.swf", "--filter"}, 3, `--filter: unknown key "filter"; it belongs to [[rigid]] with swf`},
		{"empty log", bag, []string{"--from-swf", "empty.swf", "--nodes", "3"}, 3, "empty.swf: there is no job in it"},
		{"idle log", bag, []string{"--from-sacct", "idle.txt", "--nodes", "3"}, 3, "idle.txt: none of its 1 jobs ever ran; start sacct's output earlier (-S)"},
		{"no folder", cluster + bag, []string{"--out", "no/such.csv"}, 5, "no/such.csv: cannot write: no such file or directory"},
		{"no folder either", cluster + bag, []string{"--out", "toy.swf"}, 5, "toy.swf: cannot write: not a directory"},
		{"half a job", cluster + bag, []string{"--map-time", "1m"}, 1, "--map-time needs an elastic job, but none is given"},
		{"half a log", cluster + bag, []string{"--filter"}, 1, "--filter needs a log, but none is given"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.scenario != "" {
				w.write("s.toml", test.scenario)
			} else if err := os.Remove(filepath.Join(w.dir, "s.toml")); err != nil {
				t.Fatal(err)
			}
			r := w.berth(append([]string{"simulate", "run", "s.toml", "--out", "out.csv"}, test.args...)...)
			if r.code != test.code || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, test.want) {
				t.Errorf("%v", r)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "out.csv")); err == nil {
				t.Error("out.csv is there")
			}
		})
	}
}

// TestSimulateRunSkips checks that the skipped line of a log is reported and is in the result.
func TestSimulateRunSkips(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("log.txt", accounting+"4|bob|2024-03-01T19:00:00|2024-03-01T19:00:00|2024-03-01T18:30:00|COMPLETED|9|60|1800\n")
	w.write("toy.swf", toyLog+"4 3 -1 -60 1 -1 -1 1 60 -1 1 8 1 6 1 -1 -1 -1\n")
	for from, want := range map[string]string{
		"--from-sacct=log.txt": "log.txt: 1 odd lines were left out, the first: line 5: the job had 9 nodes, but the cluster has 8",
		"--from-swf=toy.swf":   "toy.swf: 1 odd lines were left out, the first: line 6: the run time is negative: -60 s",
	} {
		r := w.must("simulate", "run", from, "--odd", "skip", "--nodes", "8", "--maps", "1", "--map-time", "1s", "--submit", "0s", "--json")
		if !strings.Contains(r.stderr, want+"\n") || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: said %q\n%s", from, r.stderr, r.stdout)
		}
	}
}
