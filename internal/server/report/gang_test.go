package report

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestGang: a task of several ranks is shown on each of its nodes, with what it used there, and counts once. What it holds is that of all ranks.
func TestGang(t *testing.T) {
	var rows []AttemptRow
	nodes, spans, usage := NewNodes(), NewSpans(), NewUsage()
	j := New(Info{ID: "b-1", Nodes: nodes, Spans: spans, Usage: usage, OnAttempt: func(r AttemptRow) { rows = append(rows, r) }})
	seq := uint64(0)
	add := func(at job.Time, r event.Record) {
		seq++
		e := event.Entry{Seq: seq, At: at, Record: r}
		nodes.Apply(e)
		j.Apply(e)
	}
	second := job.Time(time.Second)
	add(second, event.AllocRequested{Alloc: "a1", Job: "b-1", Request: job.AllocRequest{Nodes: 2, PerNode: job.Resources{CPUs: 8}, Time: time.Hour}})
	add(second, event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 1,
		Terms: job.Terms{Attempts: 3, Need: job.Resources{CPUs: 2, GPUs: 1}, Gang: job.Gang{Ranks: 5}}}})
	add(second, event.AllocBegan{Alloc: "a1"})
	for rank, host := range []string{"n1", "n2"} {
		add(second, event.NodeJoined{Node: job.AllocID("a1").Node(rank), Host: host, Capacity: job.Resources{CPUs: 8}})
	}
	gang := []event.Share{{Node: "a1/0", Ranks: 4}, {Node: "a1/1", Ranks: 1}}
	run := func(n int, start, end job.Time, r event.AttemptEnded) {
		at := job.Attempt{Job: "b-1", Task: 0, N: n}
		add(start, event.AttemptStarted{Attempt: at, Node: "a1/0", Mem: 1 << 30, Gang: gang})
		if v := j.View(start); v.Nodes[0].Running != 1 || v.Nodes[1].Running != 1 || len(v.Running) != 1 || len(v.Running[0].Shares) != 2 || v.TasksRunning != 1 {
			t.Errorf("while it runs: %+v, %+v", v.Nodes, v.Running)
		}
		r.Attempt = at
		add(end, r)
	}
	run(1, 2*second, 4*second, event.AttemptEnded{Outcome: event.Lost})
	run(2, 5*second, 15*second, event.AttemptEnded{Outcome: event.Done,
		Stats:  []job.PhaseStat{{Phase: job.PhaseCompute, Start: 5 * second, End: 15 * second, CPU: 50 * time.Second, PeakMemory: 5 << 20, BytesIn: 7}},
		Shares: []event.ShareUse{{Node: "a1/0", CPU: 40 * time.Second, Memory: 4 << 20}, {Node: "a1/1", CPU: 10 * time.Second, Memory: 1 << 20}}})
	v := j.View(20 * second)
	if h := v.CoreHours; h.Used != 100 || h.Failed != 20 {
		t.Errorf("it held %+v", h)
	}
	if a, b := v.Nodes[0], v.Nodes[1]; a.Running != 0 || b.Running != 0 || a.Done != 1 || b.Done != 1 || v.TasksDone != 1 || v.Attempts.Started != 2 {
		t.Errorf("at the end: %+v, %+v", v.Nodes, v.Attempts)
	}
	if a, b := j.use["a1/0"].work, j.use["a1/1"].work; a != 40 || b != 10 {
		t.Errorf("core-seconds by node: %g and %g", a, b)
	}
	if a, b := usage.nodes["a1/0"], usage.nodes["a1/1"]; a == nil || b == nil {
		t.Error("the use of a node is not known")
	}
	for i, want := range []ShareView{{"a1/0", "n1", 4, 40, 4 << 20}, {"a1/1", "n2", 1, 10, 1 << 20}} {
		if len(rows) != 2 || rows[1].Shares[i] != want || rows[1].GPUs != 5 || rows[1].Mem != 5<<30 || rows[0].Shares[i].CPUS != 0 {
			t.Errorf("the rows are %+v", rows)
		}
	}
	for i, id := range []job.NodeID{"a1/0", "a1/1"} {
		n := spans.Nodes[id]
		if len(n.Spans) != 2 || n.Lanes[0] || n.Spans[1].Further != (i > 0) || n.Spans[1].End != 15*second || n.Spans[1].Outcome != event.Done || spans.Count != 2 {
			t.Errorf("the spans of %s are %+v", id, n.Spans)
		}
	}
}
