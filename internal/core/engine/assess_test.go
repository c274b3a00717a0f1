package engine_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// BenchmarkAssess measures the engine's processor time for three seconds of reports of 10,000 running tasks on 1,000 nodes, and for their
// assessment. 2 % of a core are 60 ms.
func BenchmarkAssess(b *testing.B) {
	const nodes, each = 1000, 10
	e := engine.New(engine.Config{})
	now := job.Time(time.Second)
	send := func(in step.Input) engine.Output {
		out, err := e.Step(now, in)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	node := job.Resources{CPUs: each, Mem: 1 << 40}
	w := job.Work{ID: "bag-1", Kind: job.Bag, Tasks: nodes * each, Alloc: job.AllocRequest{On: "local", Nodes: nodes, PerNode: node}}
	w.Need, w.Attempts, w.Duplicates = job.Resources{CPUs: 1}, 1, true
	send(step.Submit{Work: w})
	var alloc job.AllocID
	for _, a := range e.Allocs() {
		alloc = a.ID
	}
	on := make([][]job.Progress, nodes)
	index := make(map[job.NodeID]int)
	for i := range nodes {
		id := job.NodeID(fmt.Sprintf("%s/%d", alloc, i))
		index[id] = i
		for _, a := range send(step.NodeUp{NodeJoined: event.NodeJoined{Node: id, Capacity: node}}).Actions {
			if s, ok := a.(step.Start); ok {
				on[index[s.Node]] = append(on[index[s.Node]], job.Progress{Attempt: s.Attempt, Source: job.ProgressCPU, Fraction: -1})
			}
		}
	}
	before := cpu()
	for b.Loop() {
		for range 3 { // each node reports every two seconds
			now = now.Add(time.Second)
			for i := range nodes {
				if int(now/job.Time(time.Second))%2 == i%2 {
					for k := range on[i] {
						on[i][k].N = now.Sub(0).Seconds() * float64(20+i%3) / 20
					}
					send(step.Progress{Node: job.NodeID(fmt.Sprintf("%s/%d", alloc, i)), Of: on[i]})
				}
			}
		}
		send(step.Tick{})
	}
	b.ReportMetric(float64((cpu()-before).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// cpu returns the processor time of the process, as the machine may run other programs.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
