package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
	"berth/lab/repeat"
)

// slower is the factor on the turnaround of a job under each way, for fake.
var slower = map[sim.Way]float64{sim.Naive: 10, sim.Paper: 7, sim.Berth: 5}

// fake replaces a simulation. The turnaround of a job is its number, times the factor of the way, in
// minutes, so that the means are known.
func fake(_ context.Context, cfg sim.Config) (*sim.Result, error) {
	r := &sim.Result{HeldRigid: 1000}
	turnaround := func(submit job.Time, n int, times float64) sim.Outcome {
		return sim.Outcome{Submit: submit, Start: submit, Finish: submit.Add(time.Duration(float64(n%7+1) * times * float64(time.Minute))), Allocs: 1}
	}
	for i, j := range cfg.Rigid {
		r.Rigid = append(r.Rigid, turnaround(j.Submit, j.Nodes, float64(len(cfg.Elastic)+1)))
		r.End = max(r.End, r.Rigid[i].Finish)
	}
	for i, j := range cfg.Elastic {
		r.Elastic = append(r.Elastic, turnaround(j.Submit, len(j.Maps), slower[cfg.Adaptor.Way]))
		r.End = max(r.End, r.Elastic[i].Finish)
	}
	return r, nil
}

func settings() Settings {
	return Settings{
		Seed: 7, Nodes: 128, Policy: batch.CBF, Precision: 0.1, Limits: repeat.Limits{Min: 5, Max: 40, Workers: 4}, Run: fake,
		Plain: true, // see results_test.go
	}
}

var (
	someHPC = HPC{Types: workload.Typeless, Shape: PeakShape, Jobs: 30}
	someMR  = MR{Every: 14 * time.Second, Length: 20 * time.Minute}
)

func somecases(t *testing.T, names string) []Case {
	t.Helper()
	cs, err := ParseCases("--adaptors", names)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// experiments returns all experiments at a small size.
func experiments(t *testing.T, s Settings) map[string]func() (*Report, error) {
	two, ctx := somecases(t, "naive,paper"), t.Context()
	more := somecases(t, "naive,paper,several")
	mix, mixMore := Mix{someHPC, someMR, two}, Mix{someHPC, someMR, more}
	one, several := []time.Duration{18 * time.Hour}, []time.Duration{2 * time.Hour, 0}
	sweep := Sweep{
		Mix: mixMore, MaxTime: 18 * time.Hour,
		Shapes: []float64{4, PeakShape}, Everies: []time.Duration{7 * time.Second, 14 * time.Second},
	}
	byBin := Bins{Mix: mix, MaxTime: 18 * time.Hour}
	alone := byBin
	alone.Alone, alone.NoHPC = true, true
	return map[string]func() (*Report, error){
		"table2":        func() (*Report, error) { return s.Table2(ctx, mix, one) },
		"table2 limits": func() (*Report, error) { return s.Table2(ctx, mixMore, several) },
		"table3":        func() (*Report, error) { return s.Table3(ctx, mix, one) },
		"fig3":          func() (*Report, error) { return s.Fig3(ctx, byBin) },
		"fig3 alone":    func() (*Report, error) { return s.Fig3(ctx, alone) },
		"fig4":          func() (*Report, error) { return s.Fig4(ctx, sweep) },
		"variants":      func() (*Report, error) { return s.Variants(ctx, sweep) },
	}
}

// TestLayout compares the text and the CSV of all reports.
func TestLayout(t *testing.T) {
	run := experiments(t, settings())
	datadriven.RunTest(t, "testdata/layout", func(t *testing.T, d *datadriven.TestData) string {
		r, err := run[strings.Join(strings.Split(d.CmdArgs[0].Key, "-"), " ")]()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		switch d.Cmd {
		case "text":
			err = r.Text(&b)
		case "csv":
			err = r.CSV(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
}

// output returns a report in all formats.
func output(t *testing.T, r *Report) [][]byte {
	t.Helper()
	var text, csv bytes.Buffer
	if err := errors.Join(r.Text(&text), r.CSV(&csv)); err != nil {
		t.Fatal(err)
	}
	js, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{text.Bytes(), csv.Bytes(), js}
}

// TestWorkersDoNotMatter checks that the output is the same for any number of workers.
func TestWorkersDoNotMatter(t *testing.T) {
	few := Reports(t, 1)
	for name, r := range Reports(t, 8) {
		if !reflect.DeepEqual(output(t, r), output(t, few[name])) {
			t.Errorf("%s differs between one worker and eight", name)
		}
	}
}

// Reports returns small reports of all experiments. It is exported for the tests of figures.
func Reports(t *testing.T, workers int) map[string]*Report {
	t.Helper()
	s := settings()
	s.Limits.Workers = workers
	reports := map[string]*Report{}
	for name, run := range experiments(t, s) {
		var err error
		if reports[name], err = run(); err != nil {
			t.Fatal(err)
		}
	}
	return reports
}

// TestJSONKeys checks that the keys are those documented at Report and Cell.
func TestJSONKeys(t *testing.T) {
	r, err := experiments(t, settings())["fig4"]()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Cells []map[string]any `json:"cells"`
	}
	var top map[string]any
	if err := errors.Join(json.Unmarshal(b, &m), json.Unmarshal(b, &top)); err != nil {
		t.Fatal(err)
	}
	keys := func(m map[string]any, want ...string) {
		t.Helper()
		for _, k := range want {
			if _, ok := m[k]; !ok {
				t.Errorf("no key %s", k)
			}
			delete(m, k)
		}
		if len(m) > 0 {
			t.Errorf("besides: %v", m)
		}
	}
	keys(top, "experiment", "nodes", "policy", "seed", "precision", "confidence", "control_variates", "workload", "cells")
	last := slices.DeleteFunc(m.Cells, func(c map[string]any) bool { return c["measure"] != Turnaround || c["adaptor"] == NaiveCase })
	keys(last[len(last)-1], "load", "parameter", "value", "max_time_s", "adaptor", "jobs", "measure", "mean", "half_width",
		"replications", "wanted", "reached", "under")
}

// TestSameJobsForAll checks that all cases of a replication have the same jobs, that a mix has the
// jobs of its parts, and that replications differ.
func TestSameJobsForAll(t *testing.T) {
	s, seen := settings(), map[string]int{}
	s.Limits = repeat.Limits{Min: 5, Max: 5, Workers: 1}
	s.Run = func(ctx context.Context, cfg sim.Config) (*sim.Result, error) {
		if len(cfg.Rigid) > 0 {
			seen["rigid "+fmt.Sprint(cfg.Rigid)]++
		}
		if len(cfg.Elastic) > 0 {
			seen["elastic "+fmt.Sprint(cfg.Elastic)]++
		}
		return fake(ctx, cfg)
	}
	if _, err := experiments(t, s)["table2"](); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 10 {
		t.Errorf("%d workloads in 5 replications of HPC and MapReduce jobs", len(seen))
	}
	for w, n := range seen {
		want := 3 // HPC only, and the mix under two cases
		if strings.HasPrefix(w, "elastic") {
			want = 4
		}
		if n != want {
			t.Errorf("a workload was run %d times: %.80s", n, w)
		}
	}
}

// TestRefusals checks that an error names the flag that caused it.
func TestRefusals(t *testing.T) {
	for flag, change := range map[string]func(*Settings){
		"--nodes":            func(s *Settings) { s.Nodes = 0 },
		"--precision":        func(s *Settings) { s.Precision = 5 },
		"--min-replications": func(s *Settings) { s.Limits.Min = 1 },
		"--max-replications": func(s *Settings) { s.Limits.Max = 3 },
		"--jobs":             func(s *Settings) { s.Limits.Workers = 0 },
	} {
		s := settings()
		change(&s)
		_, err := experiments(t, s)["table2"]()
		var e *job.Error
		if !errors.As(err, &e) || e.Where != flag || e.Class != job.User || e.Code != job.CodeConfig {
			t.Errorf("%s: %v", flag, err)
		}
	}
	for _, bad := range []string{"", "naive,napper", "paper,paper", "courteous=", "courteous=0", "courteous=11", "naive=2"} {
		if _, err := ParseCases("--adaptors", bad); job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if some := somecases(t, "courteous,courteous=0.5"); some[0].Adaptor.Request.Courtesy == 0 || some[1].Adaptor.Request.Courtesy != 0.5 {
		t.Errorf("%+v", some)
	}
}
