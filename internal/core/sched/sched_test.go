package sched

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func TestCandidatesGoByJobThenMapsThenTask(t *testing.T) {
	at := func(p Priority, kind job.TaskKind, task int) *Candidate {
		return &Candidate{Needs: Needs{Kind: kind}, Running: &Running{ID: job.Attempt{Task: task}}, priority: p}
	}
	inOrder := []*Candidate{
		at(Priority{Level: 1, Rank: 5, Order: 9}, job.ReduceTask, 8),
		at(Priority{Rank: -1, Order: 9}, job.ReduceTask, 7),
		at(Priority{Order: 1}, job.MapTask, 6),
		at(Priority{Order: 1}, job.ReduceTask, 4),
		at(Priority{Order: 1}, job.ReduceTask, 5),
		at(Priority{Order: 2}, job.MapTask, 0),
		at(Priority{Level: -1, Rank: -2}, job.MapTask, 0),
	}
	for i, c := range inOrder {
		for k, d := range inOrder {
			if c.before(d) != (i < k) {
				t.Errorf("the candidate %d goes before %d: %t", i, k, c.before(d))
			}
		}
	}
}

func TestDemand(t *testing.T) {
	needs := job.Resources{CPUs: 2, Mem: 5}
	need := needs.Vector()
	var rule CoreRules
	for _, c := range []struct {
		kind           job.TaskKind
		after, through job.Phase // the phases of a grant, as the scheduler Cores gives it
		want           job.Vector
	}{
		{job.BagTask, job.PhaseNone, job.PhaseStore, need},
		{job.MapTask, job.PhaseNone, job.PhaseMerge, need},
		{job.ReduceTask, job.PhaseNone, job.PhaseShuffle, job.Vector{Memory: 5}},
		{job.ReduceTask, job.PhaseShuffle, job.PhaseReduce, need},
	} {
		tasks := NewTasks(&Job{}, c.kind)
		tasks.Need = needs
		d := rule.Demand(tasks)
		if got := d.Most(c.after, c.through); got != c.want {
			t.Errorf("a %v with a grant through %v takes %v, want %v", c.kind, c.through, got, c.want)
		}
		next := c.after + 1
		if c.after == job.PhaseNone {
			next = c.kind.Phases()[0]
		}
		if got := rule.Through(tasks, next); got != c.through {
			t.Errorf("a %v has a grant for %v through %v, want %v", c.kind, next, got, c.through)
		}
		if peak := d.Most(job.PhaseNone, job.PhaseReduce); peak != need {
			t.Errorf("a %v takes %v at most, want %v", c.kind, peak, need)
		}
	}
}

func TestSlowStart(t *testing.T) {
	for _, c := range []struct {
		maps  int
		share float64
		want  int
	}{{0, 1, 0}, {10, 0, 0}, {20, 0.05, 1}, {10, 0.05, 1}, {4, 0.5, 2}, {3, 0.5, 2}, {7, 1, 7}, {7, 2, 7}, {7, -1, 0}} {
		if got := SlowStart(c.maps, c.share); got != c.want {
			t.Errorf("SlowStart(%d, %v) = %d, want %d", c.maps, c.share, got, c.want)
		}
	}
}

func TestAdmission(t *testing.T) {
	node := Node{Capacity: job.Vector{CPU: 2000, Memory: 10}}
	for _, c := range []struct {
		name    string
		change  func(n *Node)
		need    job.Vector
		room    int64
		task    bool
		shuffle bool
	}{
		{"empty", func(*Node) {}, job.Vector{CPU: 2000, Memory: 10}, 0, true, true},
		{"too many cores", func(*Node) {}, job.Vector{CPU: 3000, Memory: 1}, 0, false, false},
		{"too much memory", func(*Node) {}, job.Vector{CPU: 1000, Memory: 11}, 0, false, false},
		{"cores in use", func(n *Node) { n.Used.CPU = 2000 }, job.Vector{CPU: 1000, Memory: 1}, 0, false, true},
		{"memory in use", func(n *Node) { n.Used.Memory = 10 }, job.Vector{CPU: 1000, Memory: 1}, 0, false, false},
		{"someone waits", func(n *Node) { n.waiting.line = line{{Job: &Job{}, Running: &Running{}}} }, job.Vector{CPU: 1000, Memory: 1}, 0, false, true},
		{"as many shuffle as there are cores", func(n *Node) { n.Shuffles = 2 }, job.Vector{CPU: 1000}, 0, true, false},
		{"room for a map", func(n *Node) { n.ShuffleMem, n.Used.Memory = 2, 2 }, job.Vector{CPU: 1000, Memory: 4}, 4, true, true},
		{"no room for a map", func(n *Node) { n.ShuffleMem, n.Used.Memory = 2, 2 }, job.Vector{CPU: 1000, Memory: 4}, 5, true, false},
		{"maps that fit no node", func(*Node) {}, job.Vector{CPU: 1000, Memory: 0}, 99, true, true},
	} {
		n := node
		c.change(&n)
		if got := n.Admits(c.need); got != c.task {
			t.Errorf("%s: admits task: %v", c.name, got)
		}
		group := Group{Needs: Needs{Kind: job.ReduceTask, Demand: job.Vector{Memory: c.need.Memory}, Peak: c.need, Room: c.room}}
		group.push(&Candidate{Job: &Job{}, Needs: group.Needs})
		if got := (&Pool{Rules: CoreRules{}}).admits(&group, &n); got != c.shuffle {
			t.Errorf("%s: admits shuffle: %v", c.name, got)
		}
	}
	n := node
	n.ShuffleMem = 6
	if n.Obstructed(4) || !n.Obstructed(5) {
		t.Error("shuffles of 6 of 10 leave 4")
	}
}

// TestChoice compares the choice with its definition: the best node does not depend on the
// order of the offers, is not to be avoided if another is not, and no other is less loaded.
func TestChoice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := make([]*Node, rapid.IntRange(1, 6).Draw(t, "nodes"))
		avoid := make([]bool, len(nodes))
		for i := range nodes {
			nodes[i] = &Node{Index: i, Capacity: job.Vector{CPU: rapid.Int64Range(0, 4).Draw(t, "cpus"), Memory: 8}}
			nodes[i].Used = job.Vector{CPU: rapid.Int64Range(0, nodes[i].Capacity.CPU).Draw(t, "used"), Memory: rapid.Int64Range(0, 8).Draw(t, "mem")}
			avoid[i] = rapid.Bool().Draw(t, "avoid")
		}
		var up, down Choice
		for i := range nodes {
			up.Offer(nodes[i], avoid[i])
			down.Offer(nodes[len(nodes)-1-i], avoid[len(nodes)-1-i])
		}
		best, avoided := up.Best()
		if other, _ := down.Best(); other != best || avoided != avoid[best.Index] {
			t.Fatalf("best is %d or %d", best.Index, other.Index)
		}
		for i, n := range nodes {
			if n != best && (avoided && !avoid[i] || avoided == avoid[i] && n.lighter(best)) {
				t.Fatalf("%d is chosen, %d is better", best.Index, i)
			}
		}
	})
}

func TestHealth(t *testing.T) {
	trust := Trust{After: 3, For: time.Second}
	var h Health
	// While no attempt is done elsewhere, no failure makes the node suspected.
	for range 10 {
		if h.Bad(0, 7, trust) {
			t.Fatal("suspected though no other node does better")
		}
	}
	if h.Bad(5, 9, trust) || h.Suspected(5) {
		t.Fatal("suspected after 2 done elsewhere")
	}
	if !h.Bad(5, 10, trust) || !h.Suspected(5) || h.Suspected(5+job.Time(time.Second)) || h.Until != 5+job.Time(time.Second) {
		t.Fatal("not suspected for a second after 3 done elsewhere")
	}
	// The row starts again, and an attempt that is done ends it.
	h.Bad(6, 10, trust)
	h.Bad(6, 20, trust)
	h.Good()
	if h.Bad(6, 30, trust) {
		t.Fatal("the row did not end")
	}
}

// TestUrgentNodes checks where a task starts again whose attempt was too slow on node 1. Node 2 is healthy and busy.
func TestUrgentNodes(t *testing.T) {
	trust := Trust{For: time.Minute}
	slow, later := job.Time(time.Hour), job.Time(time.Hour+2*time.Minute) // the penalty expires in between
	for _, c := range []struct {
		name      string
		duplicate bool
		alone     bool // node 2 is not there
		now       job.Time
		on        [3]bool // by index
	}{
		{"instead of the attempt", false, false, slow, [3]bool{2: true}},
		{"instead of the attempt, on the only node", false, true, slow, [3]bool{1: true}},
		{"instead of the attempt, after the penalty", false, false, later, [3]bool{1: true, 2: true}},
		{"beside the attempt", true, false, slow, [3]bool{2: true}},
		{"beside the attempt, after the penalty", true, false, later, [3]bool{2: true}},
		{"beside the attempt, on the only node", true, true, slow, [3]bool{}},
	} {
		node := Node{Alloc: &Alloc{}, Up: true, Capacity: job.Vector{CPU: 1000}}
		first, second := node, node
		first.Index, second.Index = 1, 2
		nodes := []*Node{&first, &second}
		nodes[0].Health.Slow(slow, trust)
		nodes[1].Used = nodes[1].Capacity
		if c.alone {
			nodes = nodes[:1]
		}
		r := retry{avoid: 1, duplicate: c.duplicate}
		for _, n := range nodes {
			if got := r.mayBegin(&Pool{Nodes: nodes}, &Group{Needs: Needs{Peak: job.Vector{CPU: 1000}}}, n, c.now); got != c.on[n.Index] {
				t.Errorf("%s: on node %d: %v", c.name, n.Index, got)
			}
		}
	}
}

// Penalty returns the node's penalty for slow attempts.
func (h *Health) Penalty(now job.Time, t Trust) float64 {
	return max(0, h.SlowUntil.Sub(now).Seconds()/t.For.Seconds())
}
