package command

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
)

// TestFrontHasTheCluster: the free nodes that the plan chose are a type that boots when they are free; those that never come are none.
func TestFrontHasTheCluster(t *testing.T) {
	f := planFront{price: 0.5}
	slot := plan.Candidate{Take: 2, Wait: 90, Chosen: true, PerNode: job.Resources{CPUs: 9}}
	slot.Nodes = 7
	never := slot
	never.Wait = math.Inf(1)
	other := slot
	other.Chosen = false
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		types []front.Type
	}{
		{"no batch system", plan.Plan{}, nil},
		{"chosen", plan.Plan{Alloc: job.AllocRequest{On: "slurm"}, Outlook: &plan.Outlook{Partition: "p", Slots: []plan.Candidate{other, slot}}},
			[]front.Type{{Name: "slurm:p", Price: 0.5, Unit: 1, Boot: 90, Slots: 4, Limit: 7}}},
		{"never", plan.Plan{Outlook: &plan.Outlook{Slots: []plan.Candidate{never}}}, nil},
	} {
		got := f.cluster(tt.plan, job.Resources{CPUs: 2})
		if len(got) != len(tt.types) || len(got) > 0 && got[0] != tt.types[0] {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// TestFrontIsOfBags: other jobs are refused, wherever they come from.
func TestFrontIsOfBags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.toml")
	for name, tt := range map[string]struct {
		file string
		args []string
	}{
		"mapreduce": {"", []string{"plan", "mapreduce", "-input", "a", "-output", "b", "-mapper", "cat", "--front"}},
		"file":      {"kind = \"mapreduce\"\n[mapreduce]\ninput = \"/etc/hostname\"\noutput = \"/nonexistent/b\"\nmapper = \"cat\"\n", []string{"plan", "run", file, "--front"}},
	} {
		if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		root := Root(Extra{})
		root.SetArgs(tt.args)
		err := root.Execute()
		if job.CodeOf(err) != job.CodeArguments || !strings.Contains(err.Error(), "only for a bag") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
