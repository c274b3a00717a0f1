package parse

import (
	"testing"

	"berth/internal/core/job"
)

// A number of GPUs has a type only where one is named, and nothing else is taken for one.
func TestGPUs(t *testing.T) {
	for text, want := range map[string]job.Resources{
		"0": {}, "2": {GPUs: 2}, " 1:a100 ": {GPUs: 1, GPUType: "a100"}, "4:1g.5gb": {GPUs: 4, GPUType: "1g.5gb"},
	} {
		n, kind, err := GPUs("--gpus", text)
		if err != nil || n != want.GPUs || kind != want.GPUType {
			t.Errorf("%q: %d of type %q, %v", text, n, kind, err)
		}
	}
	for _, text := range []string{"", "a100", "a100:2", "-1", "1:", ":a100", "99999999", "1.5"} {
		if n, kind, err := GPUs("--gpus", text); job.ClassOf(err) != job.User {
			t.Errorf("%q: %d of type %q, %v", text, n, kind, err)
		}
	}
}

// --gpus sets the need of every kind of task; 0 takes it back from a job that had some.
func TestGPUsOfJobs(t *testing.T) {
	s, err := ask(t, job.Bag, "gpus=2:a100")
	if err != nil || s.Bag.Need.GPUs != 2 || s.Bag.Need.GPUType != "a100" {
		t.Errorf("%+v, %v", s.Bag.Need, err)
	}
	m, err := ask(t, job.MapReduce, "gpus=1")
	if err != nil || m.MapReduce.MapNeed.GPUs != 1 || m.MapReduce.ReduceNeed.GPUs != 1 {
		t.Errorf("%+v, %v", m.MapReduce, err)
	}
	again := &Ask{}
	for _, o := range Options() {
		if o.Name == "gpus" {
			err = o.Set(again, "--gpus", "0")
		}
	}
	if err == nil {
		err = again.Apply(s)
	}
	if err != nil || s.Bag.Need.GPUs != 0 || s.Bag.Need.GPUType != "" {
		t.Errorf("after a resume without: %+v, %v", s.Bag.Need, err)
	}
}
