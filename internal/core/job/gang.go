package job

import (
	"cmp"
	"math"
)

// Gang says that a task consists of several ranks: processes that run at the same time, on one node or on several of one allocation. What a
// task needs (Resources) is for each rank.
type Gang struct {
	Ranks int `msgpack:"rk,omitempty" json:"ranks,omitempty"` // processes of each, which need the cores, memory and GPUs each
	// RanksPerNode is how many ranks each node has, the last of them maybe fewer; 0: as many as it has room for, so that the nodes are few.
	RanksPerNode int `msgpack:"rn,omitempty" json:"ranks_per_node,omitempty"` // of each node; may be absent: as many as it has room for
}

// Several reports whether the task has several ranks.
func (g Gang) Several() bool { return g.Ranks > 1 }

func (g Gang) impossible() bool {
	return g.Ranks < 0 || g.Ranks > math.MaxInt32 || g.RanksPerNode < 0 || g.RanksPerNode > math.MaxInt32
}

// In returns the ranks of a task of a bag with these ranks, which has g of its own. No node has more ranks than the task.
func (g Gang) In(bag Gang) Gang {
	g.Ranks = cmp.Or(g.Ranks, bag.Ranks)
	g.RanksPerNode = min(cmp.Or(g.RanksPerNode, bag.RanksPerNode), g.Ranks)
	return g
}

// ranksOn returns how many ranks of the task a node holds that has these resources free; 0: it is too small for what the task wants of each node.
func (n Needs) ranksOn(free Resources) int {
	return n.Gang.On(free.Slots(n.Resources()))
}

// On returns how many ranks a node gets at most that has room for so many of them; 0: it is too small for what the task wants of each node.
func (g Gang) On(room int) int {
	most := max(1, g.Ranks)
	room = min(most, room)
	switch per := g.RanksPerNode; {
	case per == 0 || !g.Several():
		return room
	case room >= per:
		return per
	case most%per > 0 && room >= most%per:
		return most % per // it can be the last one
	}
	return 0
}

// NodesOf returns how many nodes with these resources a task needs that has them for itself; 0: no number of them suffices.
func (n Needs) NodesOf(has Resources) int {
	ranks := max(1, n.Ranks)
	on := n.ranksOn(has)
	if on == 0 || n.RanksPerNode > 0 && n.Several() && on < n.RanksPerNode {
		return 0
	}
	return (ranks + on - 1) / on
}

// FitsIn reports whether nodes that have room for so many ranks hold the task together.
func (g Gang) FitsIn(rooms []int) bool {
	sum, full := 0, 0
	for _, room := range rooms {
		on := g.On(room)
		if sum += on; on == g.RanksPerNode {
			full++
		}
	}
	if g.RanksPerNode == 0 {
		return sum >= g.Ranks
	}
	need, rest := g.Ranks/g.RanksPerNode, g.Ranks%g.RanksPerNode
	return full >= need && (rest == 0 || sum >= need*g.RanksPerNode+rest)
}
