package command

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
	"berth/internal/core/predict"
)

// TestFrontHasTheCluster: the free nodes that the plan chose are a type that boots when they are free; those that never come are none.
func TestFrontHasTheCluster(t *testing.T) {
	f := planFront{Price: 0.5}
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

// TestFrontOfPhases: the front of a MapReduce job, of Hadoop's flags or of a job file, and of a job in stages adds the phases up; what is not known,
// and what a front cannot do, is refused with what to do.
func TestFrontOfPhases(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"types.toml":  "[[type]]\nname = \"a\"\nprice = 3600\n",
		"words":       "a b\n",
		"count.toml":  "kind = \"mapreduce\"\n[mapreduce]\ninput = \"words\"\noutput = \"counts\"\nmapper = \"cat\"\nreducer = \"cat\"\nnum_reduce_tasks = 4\n",
		"stages.toml": "kind = \"stages\"\nname = \"s\"\n[stages]\ninput = \"words\"\noutput = \"made\"\nparts = 16\n[operation]\ncommand = \"cp $BERTH_INPUT $BERTH_OUTPUT\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hadoop := []string{"plan", "mapreduce", "-input", "words", "-output", "counts", "-mapper", "cat", "-reducer", "cat", "-numReduceTasks", "4"}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"hadoop":     {append(hadoop, "--task-time=30s,10s", "--only", "a=2"), `"makespan_s":35,`}, // a map and four reduces on two machines, without tails
		"one option": {append(hadoop, "--task-time=30s,10s", "--spread"), "is no value of it"},
		"file":       {[]string{"plan", "run", "count.toml", "--task-time", "30s,10s", "--only", "a=2"}, `"makespan_s":35,`},
		"stages":     {[]string{"plan", "run", "stages.toml", "--task-time", "10s,300s,20s", "--only", "a=1"}, `"makespan_s":4830,`},
		"unknown":    {hadoop, "phase map is unknown"},
		"too few":    {[]string{"plan", "run", "stages.toml", "--task-time", "10s,300s"}, "each of the 3 phases"},
		"run":        {[]string{"plan", "run", "stages.toml", "--task-time", "10s,300s,20s", "--run"}, "--idle-timeout"},
	} {
		var out strings.Builder
		root := Root(Extra{})
		root.SetOut(&out)
		root.SetArgs(append(tt.args, "--front", "--catalogue", "types.toml", "--tail=false", "--boot=false", "--on", "local", "--json"))
		if err := root.Execute(); err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %s", name, out.String())
		}
	}
	for _, args := range [][]string{append(hadoop, "--task-time=30s"), {"plan", "run", "count.toml", "--cluster-price", "1"}, {"plan", "bag", "--svg", "x", "--on", "local", "--", "true", ":::", "a"}} {
		root := Root(Extra{})
		root.SetArgs(args)
		if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "add --front") {
			t.Errorf("%q without --front: %v", args, err)
		}
	}
}

// TestPhasesOfMapReduce: maps read the input and reduces write the output, both through the data server; a reduce takes what it did after the last map,
// on average over those that had begun before and the others.
func TestPhasesOfMapReduce(t *testing.T) {
	measures := predict.Measures{predict.MapTask: {}, predict.FirstShuffle: {}, predict.OtherShuffle: {}, predict.ReduceTask: {}}
	for range 2 {
		measures[predict.MapTask].Add(predict.Sample{Seconds: 30, BytesIn: 100, BytesOut: 50})
		measures[predict.ReduceTask].Add(predict.Sample{Seconds: 8, BytesIn: 50, BytesOut: 10})
	}
	measures[predict.FirstShuffle].Add(predict.Sample{Seconds: 1})
	measures[predict.OtherShuffle].Add(predict.Sample{Seconds: 3})
	var prof predict.Profile
	prof.AddRun(predict.Size{Kind: job.MapReduce, InputBytes: 200, Tasks: 2, Reduces: 2}, 1, measures)
	f := planFront{flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	f.register(f.flags)
	got := f.mapReduce(&job.MapReduceSpec{}, &plan.Plan{Tasks: 4, Reduces: 4, InputBytes: 400}, &prof)
	if len(got) != 2 || got[0].task.Seconds != 30 || got[0].bag.Bytes != 100 || got[1].task.Seconds != 10 || got[1].bag.Bytes != 10 || got[1].bag.Tasks != 4 {
		t.Errorf("%+v", got)
	}
	got = f.mapReduce(&job.MapReduceSpec{}, &plan.Plan{Tasks: 4, InputBytes: 400}, &prof)
	if len(got) != 1 || got[0].bag.Bytes != 150 {
		t.Errorf("without reduces: %+v", got)
	}
}
