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

// stragglersCommand runs berth-lab stragglers with --json.
func stragglersCommand(t *testing.T, args ...string) ([]byte, error) {
	t.Helper()
	var s Stragglers
	f := pflag.NewFlagSet("stragglers", pflag.ContinueOnError)
	s.Register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := s.Run(context.Background(), simulation.Console{Out: &out, Err: &out, JSON: true})
	return out.Bytes(), err
}

// TestStragglers checks that there is a row with the expected keys for each job, size and rule, that
// the engine follows the rules within the budget, and that the output is the same for any number of
// simultaneous simulations.
func TestStragglers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"--job", "cap3", "--tasks", "40,60", "--rule", "nothing,paper,berth,paper:0.5", "--replications", "3", "--place", "hangs", "--seed", "3", "--out", dir}
	text, err := stragglersCommand(t, append(args, "--jobs", "1")...)
	if err != nil {
		t.Fatal(err)
	}
	r := new(evaluate.StragglerReport)
	if err := json.Unmarshal(text, r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2*4 || r.Rows[3].Rule != "paper:0.5" {
		t.Fatalf("%d rows: %s", len(r.Rows), text)
	}
	for i, row := range r.Rows {
		if row.Job != "cap3" || row.Tasks != []int{40, 60}[i/4] || row.MeanCompletion <= 0 || row.HalfWidth == nil || row.Clear > row.MeanCompletion+1 {
			t.Errorf("%+v", row)
		}
		if row.Rule == "nothing" && (row.Duplicates != 0 || row.ExtraCPU != 0 || row.WorstRatio != 1) || row.Rule == "berth" && (row.ExtraCPU > 0.06 || row.WorstRatio > 1.02) {
			t.Errorf("%+v", row)
		}
	}
	for _, key := range []string{"mean_completion_s", "worst_completion_s", "extra_cpu", "duplicates", "wasted", "half_width_s"} {
		if strings.Count(string(text), `"`+key+`"`) != len(r.Rows) {
			t.Errorf("%s is not in every row", key)
		}
	}
	if got := remains(t, dir); strings.Join(got, " ") != "stragglers.json stragglers.md stragglers.txt" {
		t.Errorf("files %v", got)
	}
	again, err := stragglersCommand(t, append(args[:len(args)-2:len(args)-2], "--jobs", "2")...)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("another result on two processors: %v", err)
	}
}

// TestStragglersRefuses checks that invalid flags are rejected before anything is simulated.
func TestStragglersRefuses(t *testing.T) {
	for args, says := range map[string]string{
		"--job sort": "sort", "--rule luck": "luck", "--tasks 0": "0", "--tasks ten": "ten", "--rule paper:x": "paper:x", "--place moon": "moon",
		"--speculation 0": "0", "--speculation 101%": "101%", "--replications 0": "0", "--jobs -1": "-1",
	} {
		if _, err := stragglersCommand(t, strings.Fields(args)...); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// remains returns the paths below a folder.
func remains(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		paths = append(paths, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths[1:]
}
