package plan

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// genGang draws the ranks of tasks, mostly one.
func genGang(t *rapid.T) (g job.Gang) {
	g.Ranks = rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5, 9}).Draw(t, "ranks")
	if g.Several() && rapid.Bool().Draw(t, "some on each node") {
		g.RanksPerNode = rapid.IntRange(1, g.Ranks).Draw(t, "on each node")
	}
	return g
}

// place puts gangs on nodes, each on those with the most room, and returns how many have room.
func place(n need, nodes []job.Resources) (gangs int) {
	for {
		slices.SortFunc(nodes, func(x, y job.Resources) int { return cmp.Compare(y.Slots(n.Resources), x.Slots(n.Resources)) })
		if rooms := n.rooms(nodes); rooms[0] == 0 || !n.FitsIn(rooms) {
			return gangs
		}
		left := n.ranks()
		for i := range nodes {
			on := min(left, nodes[i].Slots(n.Resources), cmp.Or(n.RanksPerNode, left))
			nodes[i] = nodes[i].Minus(n.Resources.Times(on))
			left -= on
		}
		gangs++
	}
}

// TestGangsOnNodes compares the number of gangs that run at once on nodes with how many can be put there one after the other. It is the same,
// unless the last node of a gang has fewer ranks than the others: then the model may have more.
func TestGangsOnNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := job.Resources{CPUs: rapid.IntRange(1, 16).Draw(t, "of cores"), Mem: rapid.Int64Range(1, 32).Draw(t, "of memory")}
		nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
		k := kindOf(job.Needs{CPUs: rapid.IntRange(1, 4).Draw(t, "cores"), Mem: rapid.Int64Range(0, 8).Draw(t, "memory"), Gang: genGang(t)})
		k.tasks = 1
		m := taskMix{k}
		placed := place(k.need, slices.Repeat([]job.Resources{size}, nodes))
		if fits := m.fitsIn(size, nodes); fits != (placed > 0) {
			t.Fatalf("it fits: %v, but %d were placed", fits, placed)
		}
		if placed == 0 {
			return
		}
		s := m.slotsOn(size)
		if got, same := s.onNodes(nodes), k.RanksPerNode == 0 || k.Ranks%k.RanksPerNode == 0; got < placed || same && got != placed {
			t.Fatalf("%d at once, but %d were placed", got, placed)
		}
		if got, want := m.together(slices.Repeat([]job.Resources{size}, nodes)), s.onNodes(nodes); int(got) != want {
			t.Fatalf("%g together, %d on nodes", got, want)
		}
		o := offer{taskSlots: s, limits: limits{minNodes: m.nodesOf(size)}}
		least := o.filled(nodes)
		if s.onNodes(least) != s.onNodes(nodes) || least > o.minNodes && s.onNodes(least-1) == s.onNodes(nodes) {
			t.Fatalf("of %d nodes %d do as much", nodes, least)
		}
	})
}

// TestOneRank: a task of one rank is planned as one that says nothing of ranks.
func TestOneRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "one machine") {
			q.Snap.Queue, q.Spec.Request = nil, job.Request{}
		}
		want := decided(t, q)
		spec, bag := *q.Spec, *q.Spec.Bag
		bag.Ranks, spec.Bag, q.Spec = 1, &bag, &spec
		if got := decided(t, q); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, without ranks %+v", got, want)
		}
	})
}

// TestWholeGangs: each request, and each allocation that is counted on, holds a gang, and together they keep the user's bound.
func TestWholeGangs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		q.Spec.Bag.Gang = genGang(t)
		if rapid.Bool().Draw(t, "unknown") {
			q.Profile = nil
		}
		if rapid.Bool().Draw(t, "begun") {
			n := q.Counts.Tasks
			q.Remaining = &job.Remaining{Tasks: n, Needs: []job.NeedsLeft{{Needs: q.Spec.Bag.Needs(), Waiting: n, Unserved: true}}}
			q.Remaining.Live = []job.Live{{Began: begin, Ends: seconds(3600), Request: job.AllocRequest{Nodes: rapid.IntRange(1, 3).Draw(t, "live"),
				PerNode: q.Snap.Nodes[0].Capacity, Batch: job.Batch{Partition: "main"}}}}
		}
		p := decided(t, q)
		mix := q.tasksLeft()
		for _, r := range p.Requests() {
			if !mix.fitsIn(r.PerNode, r.Nodes) {
				t.Fatalf("%d nodes of %s do not hold a task of %s", r.Nodes, r.PerNode.Words(), mix[0].Words())
			}
			if most := q.Spec.Request.MaxNodes; most > 0 && r.Nodes > most {
				t.Fatalf("%d nodes, allowed are %d", r.Nodes, most)
			}
		}
		if len(p.Requests()) == 0 && q.Remaining == nil {
			t.Fatalf("nothing is requested: %v", p.Reasons)
		}
		bound := q.Spec.Request.MaxNodes > 0 && q.Remaining != nil // the nodes of the present allocation may be needed first
		if p.Predicted != nil && p.TaskSlots == 0 && !bound {
			t.Fatalf("nothing runs at once: %v", p.Reasons)
		}
	})
}
