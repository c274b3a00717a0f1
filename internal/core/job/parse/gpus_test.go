package parse

import (
	"strings"
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

// A task may have a share of one GPU, in whole thousandths, or whole GPUs; a node has whole ones.
func TestTaskGPUs(t *testing.T) {
	for text, want := range map[string]job.Resources{
		"0": {}, "2": {GPUs: 2}, "1.0": {GPUs: 1}, "0.5": {GPUs: 1, GPUShare: 500}, ".25:a100": {GPUs: 1, GPUShare: 250, GPUType: "a100"},
		"0.33": {GPUs: 1, GPUShare: 330}, "0.1": {GPUs: 1, GPUShare: 100}, "0.29": {GPUs: 1, GPUShare: 290}, "1e-3": {GPUs: 1, GPUShare: 1},
		"0.3333333333333333": {GPUs: 1, GPUShare: 333}, "0.9999999999999": {GPUs: 1, GPUShare: 999},
	} {
		n, share, kind, err := taskGPUs("--gpus", text)
		if got := (job.Resources{GPUs: n, GPUShare: share, GPUType: kind}); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "not a number", "-0.5": "not a number", "nan": "not a number", "inf": "not a number", "0.5:": "not a number", "99999999": "not a number",
		"1.5": "1.5 GPUs are neither whole ones nor a share of one", "0.0001": "too small a share",
	} {
		if n, share, kind, err := taskGPUs("--gpus", text); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %d of type %q, %v", text, n, share, kind, err)
		}
	}
	if s, err := ask(t, job.Bag, "gpus=0.5"); err != nil || s.Bag.Need.GPUs != 1 || s.Bag.Need.GPUShare != 500 || s.Bag.Need.GPUWords() != "0.5 of a GPU" {
		t.Errorf("%+v, %v", s.Bag.Need, err)
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
