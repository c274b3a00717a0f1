package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/sim"
	"berth/lab/physics"
	"berth/lab/schedulers"
)

func outcome(submit, finish float64) sim.Outcome {
	at := func(s float64) job.Time { return job.Time(s * 1e9) }
	return sim.Outcome{Submit: at(submit), Finish: at(finish)}
}

// TestUnfairness checks a case computed by hand. Two jobs on one core need 10 s of it each, and the
// first gets all of it first. Its fair share over its life is 10 s · 1/2, less than its work. The
// fair share of the other is 10 s · 1/2 + 10 s, 5 s more than its work. If both run at once, each on
// half a core for 20 s, the result is fair.
func TestUnfairness(t *testing.T) {
	all := physics.Use{CPU: 1, Disk: 100, Net: 100}
	work := physics.Use{CPU: 10, Disk: 900}
	for _, tt := range []struct {
		name string
		jobs []sim.Outcome
		each physics.Use
		want float64
	}{
		{"one after the other", []sim.Outcome{outcome(0, 10), outcome(0, 20)}, work, (0 + 0.5) / 2},
		{"both at once", []sim.Outcome{outcome(0, 20), outcome(0, 20)}, work, 0},
		{"alone and slow", []sim.Outcome{outcome(5, 35)}, work, 2},
		{"the disk is dominant", []sim.Outcome{outcome(0, 20)}, physics.Use{CPU: 1, Disk: 1000}, 1},
		{"nobody", nil, work, 0},
	} {
		used := slices.Repeat([]physics.JobUse{{Use: tt.each}}, len(tt.jobs))
		if got := unfairness(tt.jobs, used, all); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.want)
		}
	}
}

// TestPhases checks that each workload has a row for each scheduler, with the keys that scripts
// read, and that the output is the same for any number of workers.
func TestPhases(t *testing.T) {
	works, err := ParsePhaseWorkloads("--workload", "sort-5g, puma-50")
	if err != nil {
		t.Fatal(err)
	}
	run := func(workers int) []byte {
		s := PhaseStudy{Seed: 1, Replications: 2, Workers: workers, Workloads: works, Order: sched.Shortest, Cases: []PhaseCase{{Scheduler: "slots"}, {Scheduler: "phases"}}}
		r, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		text := new(bytes.Buffer)
		if err := r.Text(text); err != nil || strings.Count(text.String(), "slots") != 2 {
			t.Errorf("%v:\n%s", err, text)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := run(1)
	if !bytes.Equal(b, run(3)) {
		t.Error("what is found depends on the number of workers")
	}
	var r struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(b, &r); err != nil || len(r.Rows) != 4 {
		t.Fatalf("%v: %s", err, b)
	}
	for _, row := range r.Rows {
		for _, key := range []string{"workload", "nodes", "jobs", "scheduler", "mean_completion_s", "makespan_s", "utilization", "unfairness", "energy_j", "half_width_s"} {
			if _, ok := row[key]; !ok {
				t.Errorf("%v has no %s", row, key)
			}
		}
		for r, v := range row["utilization"].(map[string]any) {
			if share := v.(float64); share <= 0 || share > 1 {
				t.Errorf("%v of %s is used", v, r)
			}
		}
	}
}

// TestMasters: under containers the Application Masters of jobs hold cores and memory, at most a tenth of the memory.
func TestMasters(t *testing.T) {
	s := PhaseStudy{DiskLoss: 0.05}
	for name, want := range map[string]int{"sort-5g": 1, "puma-50": 4} {
		works, err := ParsePhaseWorkloads("--workload", name)
		if err != nil {
			t.Fatal(err)
		}
		all, slots, containers := total(works[0].node), total(s.hardware(&works[0], schedulers.Slots)), total(s.hardware(&works[0], schedulers.Containers))
		if slots != all || all.CPU-containers.CPU != float64(want) || all.Memory-containers.Memory != float64(want*masterMemory) {
			t.Errorf("%s: %v, slots %v, containers %v", name, all, slots, containers)
		}
	}
}

func TestParsePhaseWorkloads(t *testing.T) {
	if all, err := ParsePhaseWorkloads("--workload", ""); err != nil || len(all) != 11 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := ParsePhaseWorkloads("--workload", "batch-7"); job.CodeOf(err) != job.CodeConfig || !strings.Contains(err.Error(), "puma-50") {
		t.Errorf("error %v", err)
	}
}
