package worker

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/gpus"
	"berth/internal/wire"
)

// withGPUs starts a worker that has GPUs 4 and 6 of its node.
func withGPUs(t *testing.T) *peer {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.GPUs = gpus.OfAllocation([]string{"CUDA_VISIBLE_DEVICES=4,6"}, 2, "/nowhere")
	cfg.Capacity.GPUs = 3 // more than there are
	p, _ := c.worker(cfg)
	if p.hello.Capacity.GPUs != 2 {
		t.Errorf("it says that it has %+v", p.hello.Capacity)
	}
	return p
}

// TestTasksHaveTheirGPUs: tasks that run at the same time see a GPU each, numbered as the worker's own list, and one that ends gives
// its GPU back. A task that needs none has the environment of its user.
func TestTasksHaveTheirGPUs(t *testing.T) {
	p := withGPUs(t)
	s := shell(t, `echo "$CUDA_VISIBLE_DEVICES" ${HIP_VISIBLE_DEVICES-none}; echo > ready.$BERTH_TASK_ID; read x < go.$BERTH_TASK_ID`)
	s.Bag.Need.GPUs, s.Bag.Env = 1, []string{"PATH=/bin:/usr/bin", "CUDA_VISIBLE_DEVICES=9", "HIP_VISIBLE_DEVICES=9"}
	p.job(s, 0, 0)
	run := func(ids ...string) (seen []string) {
		t.Helper()
		for _, n := range ids {
			fifo(t, s.Dir, "ready."+n)
			fifo(t, s.Dir, "go."+n)
			p.say(start(try(s.ID, int(n[0]-'1'), 1)))
		}
		for _, n := range ids {
			hear(t, filepath.Join(s.Dir, "ready."+n))
		}
		for _, n := range ids {
			release(t, filepath.Join(s.Dir, "go."+n))
			p.ended(event.Done)
			seen = append(seen, strings.TrimSpace(read(t, filepath.Join(s.Dir, string(s.ID), n+".stdout"))))
		}
		slices.Sort(seen)
		return seen
	}
	for _, ids := range [][]string{{"1", "2"}, {"3", "4"}} {
		if got := run(ids...); !slices.Equal(got, []string{"4 none", "6 none"}) {
			t.Errorf("tasks %v saw %q", ids, got)
		}
	}
	s.ID, s.Bag.Need.GPUs = "bag-2", 0
	s.Bag.Stdout = strings.ReplaceAll(s.Bag.Stdout, "bag-1", "bag-2")
	p.job(s, 0, 0)
	if got := run("5"); !slices.Equal(got, []string{"9 9"}) {
		t.Errorf("a task without GPUs saw %q", got)
	}
}

// TestTasksShareAGPU: tasks with the same number see the same GPU, those with another number see another one. So do tasks of one rank.
func TestTasksShareAGPU(t *testing.T) {
	for ranks := range 2 {
		tasksShareAGPU(t, ranks)
	}
}

func tasksShareAGPU(t *testing.T, ranks int) {
	p := withGPUs(t)
	s := shell(t, `echo "$CUDA_VISIBLE_DEVICES"; echo > ready.$BERTH_TASK_ID; read x < go.$BERTH_TASK_ID`)
	s.Bag.Need.GPUs, s.Bag.Need.GPUShare, s.Bag.Env, s.Bag.Ranks = 1, 500, []string{"PATH=/bin:/usr/bin"}, ranks
	p.job(s, 0, 0)
	numbers := map[string]uint16{"1": 1, "2": 0, "3": 1}
	for _, n := range []string{"1", "2", "3"} {
		fifo(t, s.Dir, "ready."+n)
		fifo(t, s.Dir, "go."+n)
		m := start(try(s.ID, int(n[0]-'1'), 1))
		m.GPUs = []uint16{numbers[n]}
		p.say(m)
		hear(t, filepath.Join(s.Dir, "ready."+n))
	}
	for n, want := range map[string]string{"1": "4", "2": "6", "3": "4"} {
		release(t, filepath.Join(s.Dir, "go."+n))
		p.ended(event.Done)
		if got := strings.TrimSpace(read(t, filepath.Join(s.Dir, string(s.ID), n+".stdout"))); got != want {
			t.Errorf("of %d ranks, task %s saw %q, want %q", ranks, n, got, want)
		}
	}
}

// TestMapsHaveTheirGPUs: programs of maps see the GPUs of their attempt, as tasks of a bag do.
func TestMapsHaveTheirGPUs(t *testing.T) {
	p := withGPUs(t)
	s := streaming(t, fruit, []string{"sh", "-c", "cat > /dev/null; echo gpus $CUDA_VISIBLE_DEVICES"}, nil)
	s.MapReduce.MapNeed = job.Resources{CPUs: 1, GPUs: 2}
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: try(s.ID, 0, 1)})
	p.ended(event.Done)
	if got := read(t, filepath.Join(s.MapReduce.Output, "part-00000")); !strings.HasPrefix(got, "gpus 4,6") {
		t.Errorf("its program saw %q", got)
	}
}
