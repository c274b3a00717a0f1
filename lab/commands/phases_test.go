package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/lab/evaluate"
)

// phasesCommand runs berth-lab phases with --json.
func phasesCommand(t *testing.T, args ...string) (*evaluate.PhaseReport, error) {
	t.Helper()
	var p Phases
	f := pflag.NewFlagSet("phases", pflag.ContinueOnError)
	p.Register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Run(context.Background(), simulation.Console{Out: &out, Err: &out, JSON: true}); err != nil {
		return nil, err
	}
	r := new(evaluate.PhaseReport)
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	return r, nil
}

// TestPhases checks that the rows are the requested workloads and schedulers, followed by the
// variants of the scheduler phases.
func TestPhases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r, err := phasesCommand(t, "--workload", "sort-5g", "--scheduler", "cores, slots", "--alpha", "0,2", "--ablation", "--replications", "2", "--out", dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range r.Rows {
		names = append(names, row.PhaseCase.String())
		if row.Workload != "sort-5g" || row.MeanCompletion <= 0 || row.HalfWidth == nil || row.Failed != 0 {
			t.Errorf("%+v", row)
		}
	}
	want := "cores, slots, phases α=0, phases α=2, phases without fairness, phases without order, phases without align, phases without critical, phases without speed, phases without urgency, phases without grants"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("lines of %s, want %s", got, want)
	}
	if got := remains(t, dir); strings.Join(got, " ") != "phases.json phases.md phases.txt" {
		t.Errorf("files %v", got)
	}
}

// TestPhasesMeasured checks that measured jobs are simulated unchanged and reported one by one.
func TestPhasesMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.json")
	text := `{"name": "mine", "nodes": 1, "node": {"cpus": 1, "mem_bytes": 1000000000, "disk_bps": 1000000, "net_bps": 1000000},
		"jobs": [{"name": "one", "submit_s": 0, "maps": 2, "reduces": 1, "phases": [{"phase": "map", "cpu_s": 3}, {"phase": "reduce", "cpu_s": 4}]},
		{"name": "two", "submit_s": 0, "after": 1, "maps": 1, "reduces": 1, "phases": [{"phase": "map", "cpu_s": 5}]}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := phasesCommand(t, "--measured", file, "--scheduler", "cores")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 1 || len(r.Rows[0].Completions) != 2 || r.Rows[0].Completions[0].Seconds != 10 || r.Rows[0].Completions[1].Seconds != 5 || r.Rows[0].Makespan != 15 {
		t.Errorf("%+v", r.Rows)
	}
}

func TestPhasesRefuses(t *testing.T) {
	for args, says := range map[string]string{
		"--workload sort-6g":              "sort-6g",
		"--scheduler slots,fair":          "fair",
		"--replications 0":                "--replications",
		"--jobs -1":                       "--jobs",
		"--alpha 1,x":                     "--alpha",
		"--order loudest":                 "--order",
		"--measured /no/such/file":        "/no/such/file",
		"--measured a --workload sort-5g": "--workload",
	} {
		_, err := phasesCommand(t, strings.Fields(args)...)
		if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v", args, err)
		}
	}
}
