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

// shares runs bags of 1,000 tasks of the given weights and task times, submitted one after another, on one node for five
// minutes. It returns the core-seconds that each of them got.
func shares(t *testing.T, order sched.Order, cores int, weights []float64, lasts []time.Duration) []int {
	t.Helper()
	e := engine.New(engine.Config{Order: order})
	all := job.Resources{CPUs: cores, Mem: 16 << 30}
	type end struct {
		at job.Time
		a  job.Attempt
	}
	var now job.Time
	var runs []end
	got := make([]int, len(weights))
	give := func(in step.Input) {
		out, err := e.Step(now, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range out.Records {
			if r, ok := r.(event.AttemptStarted); ok {
				runs = append(runs, end{now.Add(lasts[r.Attempt.Job[4]-'0']), r.Attempt})
			}
		}
	}
	for i, w := range weights {
		give(step.Submit{Work: job.Work{ID: job.ID(fmt.Sprint("bag-", i)), Kind: job.Bag, Tasks: 1000,
			Terms: job.Terms{Need: job.Resources{CPUs: 1, Mem: 1 << 20}, Attempts: 1, MaxFails: -1, Weight: w},
			Alloc: job.AllocRequest{On: "sim", Nodes: 1, PerNode: all}}})
		if i == 0 {
			give(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Host: "h", Addr: "h:1", Capacity: all}})
		}
	}
	for now < job.Time(5*time.Minute) {
		next := 0
		for i := range runs {
			if runs[i].at < runs[next].at {
				next = i
			}
		}
		r := runs[next]
		runs = append(runs[:next], runs[next+1:]...)
		now = r.at
		which := r.a.Job[4] - '0'
		got[which] += int(lasts[which] / time.Second)
		give(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: r.a, Outcome: event.Done}})
	}
	return got
}

// TestWeight: in the order of submission, jobs of different weights share the cores in proportion to their weights,
// however few the cores, however long the tasks of each. Jobs of equal weight begin one after the other. In the order
// by remaining work, a job of weight 3 counts as one with a third of its work.
func TestWeight(t *testing.T) {
	second, ten := time.Second, 10*time.Second
	for _, c := range []struct {
		name    string
		order   sched.Order
		cores   int
		weights []float64
		lasts   []time.Duration
		percent []int
	}{
		{"equal weights", sched.FIFO, 2, []float64{0, 1}, []time.Duration{second, second}, []int{100, 0}},
		{"3 to 1 on one core", sched.FIFO, 1, []float64{1, 3}, []time.Duration{second, second}, []int{25, 75}},
		{"3 to 1 on two cores", sched.FIFO, 2, []float64{1, 3}, []time.Duration{second, second}, []int{25, 75}},
		{"1 to 3 on four cores", sched.FIFO, 4, []float64{3, 1}, []time.Duration{second, second}, []int{75, 25}},
		{"tasks that last longer", sched.FIFO, 4, []float64{1, 3}, []time.Duration{ten, second}, []int{25, 75}},
		{"two of equal weight beside another", sched.FIFO, 2, []float64{1, 1, 3}, []time.Duration{second, second, second}, []int{25, 0, 75}},
		{"the least work for its weight", sched.Shortest, 2, []float64{1, 3}, []time.Duration{second, second}, []int{0, 100}},
		{"the least work, but far less weight", sched.Shortest, 2, []float64{1, 0.3}, []time.Duration{second, second}, []int{100, 0}},
	} {
		got := shares(t, c.order, c.cores, c.weights, c.lasts)
		for i, n := range got {
			if share := n * 100 / (300 * c.cores); share < c.percent[i]-7 || share > c.percent[i]+7 {
				t.Errorf("%s: job %d got %d %% of the cores, want %d %% (%v core-seconds)", c.name, i, share, c.percent[i], got)
			}
		}
	}
}
