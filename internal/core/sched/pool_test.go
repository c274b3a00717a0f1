package sched

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// oneNode is a policy that goes from node to node, as phase-level scheduling does: on each freed node it starts
// the candidate that leaves the least memory unused, whether it is an attempt that waits or a task.
// It shows that the interface between engine and policy suffices for that.
type oneNode struct {
	Selector
	nodes []*Node
}

func (o *oneNode) Through(_ *Job, _ *Tasks, phase job.Phase) job.Phase { return phase }

func (o *oneNode) Select(p *Pool, _ job.Time) Decision {
	o.nodes = append(o.nodes, p.takeFreed(nil)...)
	for ; len(o.nodes) > 0; o.nodes = o.nodes[1:] {
		n := o.nodes[0]
		var best *Candidate
		for _, c := range slices.Concat(p.Groups, []*Group{&n.waiting}) {
			for _, d := range c.line[:min(1, len(c.line))] {
				free := n.Free()
				if d.Running != nil {
					free = free.Plus(d.Running.Holds)
				}
				if fitsFree(d.Demand, free) && (best == nil || d.Demand.Memory > best.Demand.Memory) {
					best = d
				}
			}
		}
		if best != nil {
			return Decision{Candidate: best, Node: n}
		}
	}
	return Decision{}
}

// TestAnotherPolicy lets a policy decide by phase: a map that waits between its phases and tasks that
// could start are candidates for the same node.
func TestAnotherPolicy(t *testing.T) {
	p := Pool{Policy: &oneNode{Selector: Selector{Rules: CoreRules{}}}}
	n := &Node{Index: 1, Up: true, Alloc: &Alloc{}, Capacity: job.Vector{CPU: 2000, Memory: 10}}
	p.Nodes = []*Node{n}
	var jobs [3]Job
	candidate := func(j *Job, mem int64, after job.Phase) *Candidate {
		d := Demand{job.PhaseMap: {CPU: 1000, Memory: mem}, job.PhaseMerge: {CPU: 1000, Memory: 2}}
		c := &Candidate{Job: j, Phase: after + 1, Through: p.Policy.Through(j, nil, after+1)}
		c.Kind, c.Demand, c.Peak = job.MapTask, d.Most(after, c.Through), d.Most(job.PhaseNone, job.PhaseMerge)
		return c
	}
	start := func(c *Candidate) *Running {
		r := &Running{Job: c.Job, Kind: c.Kind, Through: c.Through, Holds: c.Demand}
		p.Occupy(n, r)
		return r
	}
	small, large := candidate(&jobs[0], 4, job.PhaseMap-1), candidate(&jobs[1], 5, job.PhaseMap-1)
	p.Put(small)
	p.Put(large)
	p.Free(n)
	if d := p.Policy.Select(&p, 0); d.Candidate != large {
		t.Fatalf("%+v starts first", d.Candidate)
	}
	r := start(large)
	p.Remove(large)
	if d := p.Policy.Select(&p, 0); d.Candidate != small {
		t.Fatalf("%+v starts second", d.Candidate)
	}
	start(small)
	p.Remove(small)
	merge, more := candidate(&jobs[1], 5, job.PhaseMap), candidate(&jobs[2], 1, job.PhaseMap-1)
	merge.Running, merge.Node = r, n
	p.Put(merge)
	p.Put(more)
	p.Free(n)
	if d := p.Policy.Select(&p, 0); d.Candidate != merge || d.Node != n {
		t.Fatalf("%+v starts third", d.Candidate)
	}
	p.Grant(n, r, merge.Through, merge.Demand)
	p.Remove(merge)
	if n.Used != (job.Vector{CPU: 2000, Memory: 6}) {
		t.Errorf("the node has %v in use after a map went on to merge", n.Used)
	}
	if d := p.Policy.Select(&p, 0); d.Candidate != nil {
		t.Errorf("%+v starts on a node without a core", d.Candidate)
	}
}

// TestPoolLines compares the lines of a pool with their definition: each candidate is in the group of its
// needs, no group is empty, and the first of a group is before the others.
func TestPoolLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pool{Policy: Cores.Policy(Shortest, false, 1)}
		jobs := make([]Job, rapid.IntRange(1, 8).Draw(t, "jobs"))
		waits := make(map[*Candidate]bool)
		for range rapid.IntRange(0, 60).Draw(t, "moves") {
			i := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
			j := &jobs[i]
			if j.By == nil {
				j.By = []*Tasks{NewTasks(j, job.BagTask)}
			}
			c := &j.By[0].Begin
			j.Order = uint64(i)
			switch rapid.IntRange(0, 3).Draw(t, "move") {
			case 0:
				c.Demand.CPU = rapid.Int64Range(1, 3).Draw(t, "cpus")
				p.Put(c)
				waits[c] = true
			case 1:
				if p.Remove(c) != waits[c] {
					t.Fatal("a candidate was not where it belongs")
				}
				delete(waits, c)
			case 2:
				j.By[0].Left.Tasks = rapid.IntRange(0, 5).Draw(t, "left")
				p.Rerank(j)
			default:
				p.Scale = rapid.IntRange(1, 4).Draw(t, "cores")
				for k := range jobs {
					jobs[k].Rank = p.Policy.Rank(&p, &jobs[k])
				}
				p.Reorder()
			}
			count := 0
			for _, group := range p.Groups {
				count += len(group.line)
				for pos, d := range group.line {
					if d.group != group || d.Needs != group.Needs || d.pos != pos || d.Job.Before(group.line[0].Job.Priority) {
						t.Fatalf("%+v is in the wrong place of %+v", d.Needs, group.Needs)
					}
				}
				if len(group.line) == 0 {
					t.Fatal("a group is empty")
				}
			}
			if count != len(waits) {
				t.Fatalf("%d candidates wait, want %d", count, len(waits))
			}
		}
	})
}
