package sched

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"berth/internal/core/job"
)

// A gang is a task of several ranks, which run at the same time. It starts as a whole on nodes of one allocation, or waits. Each of its ranks
// holds whole cores, memory and GPUs from the gang's start to its end, under all schedulers: what is measured is for all ranks together.

// Share is the part of a gang on one node.
type Share struct {
	Node  *Node
	Ranks int
}

// chooseGang returns where the first candidate of the group, a gang, starts now; nil: no allocation has room for it.
func (p *Pool) chooseGang(g *Group, now job.Time) []Share {
	switch {
	case !g.blocked:
		g.infeasible = g.placeEver(p, now) == nil
	case !slices.ContainsFunc(p.pass.freed, func(n *Node) bool { return p.ranksNow(g, n, now) > 0 }):
		return nil
	}
	room, spare := func(n *Node) int { return p.ranksNow(g, n, now) }, func(n *Node) int64 { return n.spare(g) }
	if avoid := g.line[0].Ready.avoids(); avoid != 0 {
		others := func(n *Node) int {
			if n.Index == avoid {
				return 0
			}
			return room(n)
		}
		if shares := g.place(p.Nodes, others, spare); shares != nil {
			return shares
		}
	}
	return g.place(p.Nodes, room, spare)
}

// ranksNow returns how many ranks of the group's first candidate may start on the node now.
func (p *Pool) ranksNow(g *Group, n *Node, now job.Time) int {
	switch {
	case !n.Up || !n.InTime(now, g.Span) || !n.suits(&g.Needs) || !n.Alloc.Has(g.Licensed, true) || !p.Fits(n, g.line[0]):
	case n.Health.Suspected(now) && p.trusts(now), g.Trusted && n.Health.Avoided(now):
	default:
		free := n.FreeFor(g.Demand)
		free.Memory -= n.wanted()
		ranks := slots(g.Demand, free)
		if n.kept > 0 && p.pass.holds && p.later(g) && !p.backfills(g, now) {
			ranks = min(ranks, slots(g.Demand, p.spared(g, n, now)))
		}
		return ranks
	}
	return 0
}

// placeEver returns the nodes on which a gang of the group would run if all were empty, with those that may come. nil: it can run on none.
func (g *Group) placeEver(p *Pool, now job.Time) []Share {
	return g.place(p.expected(g, now), func(n *Node) int {
		if !(n.Up || n.Away) || !n.holds(g, now) {
			return 0
		}
		return slots(g.Peak, fitted(g.Peak, n.Capacity, nil))
	}, (*Node).busiest)
}

// expected returns the nodes of the pool and, with the index 0, those that have yet to join, as many as a gang of the group could use.
func (p *Pool) expected(g *Group, now job.Time) []*Node {
	nodes := slices.Clone(p.Nodes)
	var joining []*Alloc
	for _, n := range p.Nodes {
		if a := n.Alloc; now < a.Due && !slices.Contains(joining, a) {
			joining = append(joining, a)
			for range min(a.Missing, g.Ranks) {
				nodes = append(nodes, &Node{Alloc: a, Away: true, Capacity: a.PerNode.Vector(), GPUType: a.PerNode.GPUType})
			}
		}
	}
	return nodes
}

// slots returns for how many times the demand there is room, by cores, memory and GPUs.
func slots(takes, free job.Vector) int {
	n := int64(math.MaxInt32)
	for _, r := range [...][2]int64{{takes.CPU, free.CPU}, {takes.Memory, free.Memory}, {takes.GPU, free.GPU}} {
		if r[0] > 0 {
			n = min(n, max(0, r[1])/r[0])
		}
	}
	return int(n)
}

// place returns the nodes on which a gang of the group would run if each of these nodes had room for as many ranks as room says: the fewest that
// hold it in one allocation, and among as many those that spare least. nil: no allocation holds it.
func (g *Group) place(nodes []*Node, room func(*Node) int, spare func(*Node) int64) (best []Share) {
	type at struct {
		Share
		spare int64
	}
	var rooms []at
	for _, n := range nodes {
		if ranks := g.On(room(n)); ranks > 0 {
			rooms = append(rooms, at{Share{n, ranks}, spare(n)})
		}
	}
	slices.SortStableFunc(rooms, func(a, b at) int { return cmp.Or(cmp.Compare(b.Ranks, a.Ranks), cmp.Compare(a.spare, b.spare)) })
	least := int64(0)
	for len(rooms) > 0 {
		var mine []Share
		others, alloc := rooms[:0], rooms[0].Node.Alloc
		for _, r := range rooms {
			if r.Node.Alloc == alloc {
				mine = append(mine, r.Share)
			} else {
				others = append(others, r)
			}
		}
		rooms = others
		shares, sum := fewest(g.Gang, mine), int64(0)
		for _, s := range shares {
			sum += spare(s.Node)
		}
		if shares != nil && (best == nil || len(shares) < len(best) || len(shares) == len(best) && sum < least) {
			best, least = shares, sum
		}
	}
	return best
}

// spare orders nodes by what a gang of the group would leave unused there: first those without GPUs, if it needs none, and then by free cores.
func (n *Node) spare(g *Group) int64 {
	free := max(0, n.Free().CPU)
	if g.Demand.GPU == 0 && n.Capacity.GPU > 0 {
		free += math.MaxInt32
	}
	return free
}

// fewest returns the shares of a gang on as few nodes as hold it, given how many of its ranks each node has room for, the largest first. The
// last share is where it leaves the least. nil: they do not hold it.
func fewest(gang job.Gang, rooms []Share) (shares []Share) {
	for left := gang.Ranks; left > 0; {
		want := min(left, cmp.Or(gang.RanksPerNode, left))
		i := sort.Search(len(rooms), func(i int) bool { return rooms[i].Ranks < want }) - 1
		if i < 0 && (gang.RanksPerNode > 0 || len(rooms) == 0) {
			return nil
		}
		i = max(0, i)
		i = sort.Search(i, func(k int) bool { return rooms[k].Ranks == rooms[i].Ranks }) // the first of those with equal room
		ranks := min(want, rooms[i].Ranks)
		shares, left = append(shares, Share{rooms[i].Node, ranks}), left-ranks
		copy(rooms[1:], rooms[:i])
		rooms = rooms[1:]
	}
	return shares
}

// never is later than any time.
const never = job.Time(math.MaxInt64)

// soonest returns the nodes on which a gang of the group can start soonest if nothing else starts there, by when the attempts on them are expected
// to have ended; of those that will do, the ones that have room last, so that others may use the rest. None are of an allocation that would have too
// little time left then. If it is not known when it can start they are the nodes of a running gang, or those of which least is in use, and they change as
// less of others is; for nodes that are away or have yet to join it waits if the others do not hold it.
func (p *Pool) soonest(g *Group, now job.Time) []Share {
	nodes := slices.DeleteFunc(p.expected(g, now), func(n *Node) bool { return !p.keeps(g, n, now) })
	ends := []job.Time{now}
	for _, n := range nodes {
		for _, r := range n.Running {
			if at := r.ends(now); at != never {
				ends = append(ends, at)
			}
		}
	}
	slices.Sort(ends)
	ends = append(slices.Compact(ends), never)
	place := func(by job.Time, spare func(*Node) int64) []Share {
		return g.place(nodes, func(n *Node) int { return n.ranksBy(g, by, now) }, spare)
	}
	for {
		i := sort.Search(len(ends)-1, func(i int) bool { return place(ends[i], (*Node).busiest) != nil })
		if p.heldStart = ends[i]; p.heldStart == never {
			shares := place(never, (*Node).surest)
			if one := g.behind(shares, nodes, now); one != nil {
				return one
			}
			return slices.DeleteFunc(shares, func(s Share) bool { return s.Node.Index == 0 })
		}
		nodes = slices.DeleteFunc(nodes, func(n *Node) bool { return !n.InTime(p.heldStart, g.Span) })
		if shares := place(p.heldStart, func(n *Node) int64 { return int64(now - n.roomFrom(g, 1, now)) }); shares != nil {
			return shares
		}
	}
}

// behind returns nodes on which a single attempt runs, for whose end a gang with these shares waits anyhow, if they hold it then: others may use the
// nodes that are free. nil: there is no such attempt.
func (g *Group) behind(shares []Share, nodes []*Node, now job.Time) []Share {
	for _, s := range shares {
		if len(s.Node.Running) != 1 || s.Node.ranksBy(g, now, now) >= s.Ranks {
			continue
		}
		id := s.Node.Running[0].ID
		room := func(n *Node) int {
			if len(n.Running) != 1 || n.Running[0].ID != id {
				return 0
			}
			return n.ranksBy(g, never, now)
		}
		if one := g.place(nodes, room, (*Node).busiest); one != nil {
			return one
		}
	}
	return nil
}

// ranksBy returns for how many ranks of a gang of the group the node has room at a time if nothing else starts there. Reduces that shuffle may wait
// for maps that would wait for the gang, so they do not count as ones that will end. It is not known when a node that is away is back.
func (n *Node) ranksBy(g *Group, by, now job.Time) int {
	switch {
	case by != never && !n.Up:
		return 0
	case by == never:
		all := n.Capacity
		all.Memory -= n.ShuffleMem
		return slots(g.Demand, fitted(g.Demand, all, nil))
	}
	free, shared := n.freeBy(by, now)
	return slots(g.Demand, fitted(g.Demand, free, shared))
}

// freeBy returns what is free on the node at a time if nothing else starts there, and what is in use of GPUs that tasks share.
func (n *Node) freeBy(by, now job.Time) (free job.Vector, shared []int64) {
	free, shared = n.Free(), slices.Clone(n.shared)
	for _, r := range n.Running {
		if r.ends(now) <= by {
			free, shared = free.Plus(r.Holds.Minus(r.lent)), r.share(shared, -1)
		}
	}
	return free, shared
}

// busiest orders nodes by how much is in use on them, surest puts those that are not up behind the others.
func (n *Node) busiest() int64 { return n.Used.CPU }

func (n *Node) surest() int64 {
	if n.Up {
		return n.busiest()
	}
	return math.MaxInt32 + n.busiest()
}

// ends returns when the attempt is expected to have ended; never: that is not known, or it should have ended before.
func (r *Running) ends(now job.Time) job.Time {
	upper := r.Of.Upper()
	if at := r.Working.Add(upper); upper > 0 && at >= now && !r.Shuffles() {
		return at
	}
	return never
}

// backfills reports whether a task of the group is expected to end before the gang could start that nodes are reserved for. Attempts of which
// nothing is known may end at once, and tasks of which nothing is known may never end.
func (p *Pool) backfills(g *Group, now job.Time) bool {
	upper := g.line[0].Upper
	if upper == 0 || !p.heldFor.Several() {
		return false
	}
	if p.pass.soon == 0 {
		p.pass.soon = now
		for _, s := range p.held {
			p.pass.soon = max(p.pass.soon, s.Node.roomFrom(p.heldFor, s.Ranks, now))
		}
	}
	return now.Add(upper) <= p.pass.soon
}

// roomFrom returns the earliest time at which the node can have room for so many ranks of a gang of the group.
func (n *Node) roomFrom(g *Group, ranks int, now job.Time) job.Time {
	ends := func(r *Running) job.Time {
		if at := r.ends(now); at != never {
			return at
		}
		return now
	}
	at, free, shared := now, n.Free(), slices.Clone(n.shared)
	for _, r := range slices.SortedFunc(slices.Values(n.Running), func(a, b *Running) int { return cmp.Compare(ends(a), ends(b)) }) {
		if slots(g.Demand, fitted(g.Demand, free, shared)) >= ranks {
			break
		}
		at, free, shared = ends(r), free.Plus(r.Holds.Minus(r.lent)), r.share(shared, -1)
	}
	return at
}

// HeldForGang reports whether the node is reserved for a gang.
func (p *Pool) HeldForGang(n *Node) bool { return n.kept > 0 && p.heldFor.Several() }
