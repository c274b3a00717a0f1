package engine_test

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// TestAgeing runs small jobs one after another that keep all of 1,000 cores busy, and before them
// a job of 100 core-hours, which the pool could do in six minutes. The jobs that overtake the large
// one must be those of a multiple of its six minutes, whatever the size of the pool. With ageing by one core
// they would be those of four days.
func TestAgeing(t *testing.T) {
	const cores, each, every = 1000, 10 * time.Second, 10 * time.Second
	all := job.Resources{CPUs: cores, Mem: 1 << 30}
	alloc := job.AllocRequest{On: "sim", Nodes: 1, PerNode: all, IdleTimeout: time.Hour}
	bag := func(id string, tasks int) step.Submit {
		return step.Submit{Work: job.Work{ID: job.ID(id), Kind: job.Bag, Tasks: tasks,
			Terms: job.Terms{Need: all, Attempts: 1, MaxFails: -1}, Alloc: alloc, Followup: job.Followup{TaskTimes: job.TaskTimes{TaskMean: each}}}}
	}
	e := engine.New(engine.Config{Order: sched.Shortest})
	var now job.Time
	var runs job.Attempt
	give := func(in step.Input) {
		out, err := e.Step(now, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Records {
			if r, ok := r.(event.AttemptStarted); ok {
				runs = r.Attempt
			}
		}
	}
	give(bag("bag-first", 1)) // makes the large job wait
	give(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Host: "h", Addr: "h:1", Capacity: all}})
	give(bag("bag-large", 36))
	alone := 36 * each // time of the large job with the whole pool
	for n := 0; runs.Job != "bag-large"; n++ {
		give(bag(fmt.Sprint("bag-", n), 1))
		now = now.Add(every)
		give(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: runs, Outcome: event.Done}})
		if waited := now.Sub(0); waited > 2*alone*time.Duration(1/sched.AgeingShare) {
			t.Fatalf("the job waits for %v and %d small ones, though it would last %v", waited, n, alone)
		}
	}
	if waited := now.Sub(0); waited < alone*time.Duration(1/sched.AgeingShare)/2 {
		t.Errorf("the job has waited for no more than %v: small ones hardly come first any more", waited)
	}
	t.Logf("it has waited for %v", now.Sub(0))
}
