package engine_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
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

// duplicateAll is a rule by which all running attempts are to be duplicated.
type duplicateAll struct{ straggler.Nothing }

func (duplicateAll) Assess(v *straggler.View) (all []straggler.Verdict) {
	for _, r := range v.Running {
		all = append(all, straggler.Verdict{Attempt: r.Attempt, Act: straggler.Duplicate})
	}
	return all
}

// TestNoDuplicateOfCommitting: a duplicate that waits for a free node is given up when the attempt beside which it would start may commit.
func TestNoDuplicateOfCommitting(t *testing.T) {
	for _, commits := range []bool{false, true} {
		e := engine.New(engine.Config{Rule: duplicateAll{}})
		now := job.Time(time.Second)
		send := func(in step.Input) (started []job.Attempt) {
			out, err := e.Step(now, in)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range out.Actions {
				if s, ok := a.(step.Start); ok {
					started = append(started, s.Attempt)
				}
			}
			return started
		}
		node := job.Resources{CPUs: 1, Mem: 1 << 40}
		w := job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 1, Alloc: job.AllocRequest{On: "local", Nodes: 2, PerNode: node}}
		w.Need, w.Attempts, w.Duplicates = job.Resources{CPUs: 1}, 1, true
		send(step.Submit{Work: w})
		first := send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Capacity: node}})
		send(step.Progress{Node: "a1/0", Of: []job.Progress{{Attempt: first[0], Source: job.ProgressCPU, N: 1, Fraction: -1}}})
		now = now.Add(straggler.Interval)
		send(step.Tick{})
		if commits {
			send(step.CommitWanted{Attempt: first[0]})
		}
		if second := send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/1", Capacity: node}}); len(second) > 0 == commits {
			t.Errorf("the first attempt commits: %v, and %v are started beside it", commits, second)
		}
	}
}

// TestDroppedDuplicate: the node that is reserved for a duplicate is free for others when nothing of its job is assessed any more.
func TestDroppedDuplicate(t *testing.T) {
	e := engine.New(engine.Config{Rule: duplicateAll{}})
	now := job.Time(time.Second)
	send := func(in step.Input) (started []job.Attempt) {
		out, err := e.Step(now, in)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range out.Actions {
			if s, ok := a.(step.Start); ok {
				started = append(started, s.Attempt)
			}
		}
		return started
	}
	node := job.Resources{CPUs: 2, Mem: 1 << 40}
	w := job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 1, Alloc: job.AllocRequest{On: "batch", Elastic: true, Nodes: 1, PerNode: node, Time: time.Hour}}
	w.Need, w.Attempts, w.Duplicates, w.More = node, 1, true, []job.AllocRequest{w.Alloc}
	w.Need.Mem = 0
	send(step.Submit{Work: w})
	w.ID, w.Tasks, w.Need.CPUs, w.Duplicates, w.More, w.Alloc.Nodes = "bag-2", 3, 1, false, nil, 0
	send(step.Submit{Work: w})
	first := send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Capacity: node}})
	second := send(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a2/0", Capacity: node}})
	send(step.Progress{Node: "a1/0", Of: []job.Progress{{Attempt: first[0], Source: job.ProgressCPU, N: 1, Fraction: -1}}})
	now = now.Add(straggler.Interval)
	send(step.Tick{})
	if third := send(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: second[0], Outcome: event.Done}}); len(third) > 0 {
		t.Fatalf("%v are started on the node of the duplicate", third)
	}
	send(step.AllocNote{Alloc: "a1", Note: "suspended", Suspended: true})
	now = now.Add(straggler.Interval)
	if third := send(step.Tick{}); len(third) != 1 {
		t.Errorf("no duplicate is asked for, and %v are started", third)
	}
}

// cpu returns the processor time of the process, as the machine may run other programs.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it cannot fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
