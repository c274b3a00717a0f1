package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// kind is the tasks of a job with equal needs that are not done.
type kind struct {
	need
	needs   job.Needs // of a task that has needs of its own
	index   int       // of the needs, see job.Work.NeedsAt
	tasks   int
	seconds float64 // expected duration of a task; 0: unknown
	span    time.Duration
	cut     time.Duration // see job.NeedsLeft
}

// taskMix is the bag tasks, maps or reduces that are not done, by their needs.
type taskMix []kind

// kindOf returns the kind of bag tasks with needs of their own.
func kindOf(n job.Needs) kind { return kind{need: taskNeed(n), needs: n} }

// mixOf returns the kinds of tasks that are left, each with at least one task.
func mixOf(left []job.NeedsLeft) (m taskMix) {
	for i, l := range left {
		if n := l.Waiting + l.Running; n > 0 {
			k := kindOf(l.Needs)
			k.index, k.tasks, k.span, k.cut = i, n, l.Span, l.CutShort
			m = append(m, k)
		}
	}
	return m
}

// count returns the number of tasks of all kinds.
func (m taskMix) count() (n int) {
	for _, k := range m {
		n += k.tasks
	}
	return n
}

// leastNode returns the least size of a node that has what a task of each kind needs of each of its nodes at least.
func (m taskMix) leastNode() (r job.Resources) {
	for _, k := range m {
		r = enoughForBoth(r, k.onNode())
	}
	return r
}

// leastWorker returns the least size of a worker on these nodes. It is more than that of leastNode for gangs: as much as each node has of a gang that is
// divided evenly among as few of the smallest nodes as hold it. So no gang is on more nodes than it need be.
func (m taskMix) leastWorker(nodes []*cluster.Node) job.Resources {
	least := m.leastNode()
	if !m.hasGangs() {
		return least
	}
	smallest := slices.MinFunc(slices.DeleteFunc(slices.Clone(nodes), func(n *cluster.Node) bool { return !least.Fits(n.Capacity) }),
		func(x, y *cluster.Node) int { return bySize(x.Capacity, y.Capacity) })
	for _, k := range m {
		if k.RanksPerNode == 0 {
			least = enoughForBoth(least, k.Resources.Times(ceilDiv(k.ranks(), k.asNeeds().NodesOf(smallest.Capacity))))
		}
	}
	return least
}

// enoughForBoth returns the least resources that have room for x, and for y.
func enoughForBoth(x, y job.Resources) job.Resources {
	x.CPUs, x.Mem, x.GPUs, x.GPUType = max(x.CPUs, y.CPUs), max(x.Mem, y.Mem), max(x.GPUs, y.GPUs), cmp.Or(x.GPUType, y.GPUType)
	return x
}

func (m taskMix) hasGangs() bool {
	return slices.ContainsFunc(m, func(k kind) bool { return k.Several() })
}

// nodesOf returns how many nodes of that size hold a task of any kind; 0: no number of them does.
func (m taskMix) nodesOf(size job.Resources) (nodes int) {
	for i := range m {
		n := m[i].asNeeds().NodesOf(size)
		if n == 0 {
			return 0
		}
		nodes = max(nodes, n)
	}
	return nodes
}

// fitsIn reports whether so many nodes of that size hold a task of any kind.
func (m taskMix) fitsIn(size job.Resources, nodes int) bool {
	n := m.nodesOf(size)
	return n > 0 && n <= nodes
}

// fitsNode reports whether a node of that size has what a task of each kind needs of each of its nodes at least.
func (m taskMix) fitsNode(size job.Resources) bool {
	return !slices.ContainsFunc(m, func(k kind) bool { return !k.Fits(size) })
}

// named returns the need of the kind with that position, by which the user knows it among the others.
func (m taskMix) named(i int) need {
	n := m[i].need
	if m.differs() {
		n.task += " of " + n.Words()
	}
	return n
}

// coresOf returns how many cores that many of the tasks can use at once.
func (m taskMix) coresOf(tasks int) (n int) {
	most := 0
	for _, k := range m {
		n, most = n+k.tasks*k.whole().CPUs, max(most, k.whole().CPUs)
	}
	return min(n, tasks*most)
}

// NoRoom is the error for tasks with needs of their own that no node holds.
type NoRoom struct {
	Needs job.Needs
	Err   error
}

// Error returns the text of the error that a plan for such tasks alone would have.
func (e *NoRoom) Error() string { return e.Err.Error() }

// Unwrap returns that error.
func (e *NoRoom) Unwrap() error { return e.Err }

// noRoom adds the needs to an error about the kind with that position.
func (m taskMix) noRoom(i int, err error) error {
	if m[i].needs == (job.Needs{}) {
		return err
	}
	return &NoRoom{m[i].needs, err}
}

// serving returns the nodes that hold a task of some kind.
func (m taskMix) serving(nodes []job.Resources) (out []job.Resources) {
	for _, n := range nodes {
		if slices.ContainsFunc(m, func(k kind) bool { return k.Fits(n) }) {
			out = append(out, n)
		}
	}
	return out
}

// allUsual reports whether all tasks need what the job's do, and nothing more is known of any of them.
func (m taskMix) allUsual() bool { return len(m) == 1 && m[0].needs == (job.Needs{}) }

// byCount returns the mix with the same duration for each kind.
func (m taskMix) byCount() taskMix {
	out := slices.Clone(m)
	for i := range out {
		out[i].seconds = 0
	}
	return out
}

// shares returns the fraction of the running tasks that each kind has while tasks of all kinds are left: its part of all task-seconds.
func (m taskMix) shares() []float64 {
	known := !slices.ContainsFunc(m, func(k kind) bool { return k.seconds <= 0 })
	shares, sum := make([]float64, len(m)), 0.0
	for i, k := range m {
		if shares[i] = float64(max(1, k.tasks)); known {
			shares[i] *= k.seconds
		}
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// resource is one of the resources that tasks share on a node, as an amount.
type resource func(job.Resources) float64

func cpus(r job.Resources) float64   { return float64(r.CPUs) }
func memory(r job.Resources) float64 { return float64(r.Mem) }
func gpus(r job.Resources) float64   { return float64(r.GPUs) / float64(r.PerGPU()) }

// meanNeed returns how much of a resource a running task needs, on average.
func (m taskMix) meanNeed(of resource, shares []float64) (sum float64) {
	for i := range m {
		sum += shares[i] * float64(m[i].ranks()) * of(m[i].Resources)
	}
	return sum
}

// slotsOn returns how many tasks of the mix run at once on the nodes together, on average (models.md, "Tasks of different needs"): for each
// resource what the nodes have divided by what a task needs on average; and no more than the nodes hold of large tasks. Tasks, or ranks of gangs,
// that need at least r of a resource R are at most ⌊R/r⌋ at once on a node, however much is left beside them.
func (m taskMix) slotsOn(nodes ...job.Resources) slots {
	shares, most := m.shares(), math.Inf(1)
	for _, of := range [...]resource{cpus, memory, gpus} {
		all := 0.0
		for _, n := range nodes {
			all += of(n)
		}
		if mean := m.meanNeed(of, shares); mean > 0 {
			most = min(most, all/mean)
		}
		for i := range m {
			r := of(m[i].Resources)
			most = min(most, m.pack(of, r, shares, nodes, func(j int) bool { return j == i }),
				m.pack(of, r, shares, nodes, func(j int) bool { return of(m[j].Resources) >= r }))
		}
	}
	for i := range m {
		most = min(most, m[i].gangsOn(nodes)/shares[i])
	}
	if math.IsInf(most, 1) {
		return 0
	}
	return slots(most)
}

// gangsOn returns how many gangs with so many ranks on each node run at once by the places that the nodes have for so many; +Inf for other tasks.
func (n *need) gangsOn(nodes []job.Resources) float64 {
	if !n.Several() || n.RanksPerNode == 0 {
		return math.Inf(1)
	}
	places := 0
	for _, room := range n.rooms(nodes) {
		places += room / n.RanksPerNode
	}
	return float64(places) / float64(n.Ranks/n.RanksPerNode)
}

// together is slots of nodes that may lack room for some kinds. What they hold of a single kind is a whole number.
func (m taskMix) together(nodes []job.Resources) (all slots) {
	if len(m) != 1 {
		return m.slotsOn(m.serving(nodes)...)
	}
	k := &m[0]
	rooms := k.rooms(nodes)
	if k.Several() && !k.FitsIn(rooms) {
		return 0
	}
	for _, room := range rooms {
		all += slots(room)
	}
	return slots(math.Floor(min(float64(all)/float64(k.ranks()), k.gangsOn(nodes))))
}

// pack returns how many tasks of the mix run at once if of some large kinds, which need at least r of a resource each, as many run as the
// nodes hold.
func (m taskMix) pack(of resource, r float64, shares []float64, nodes []job.Resources, large func(int) bool) float64 {
	if r == 0 {
		return math.Inf(1)
	}
	share, held := 0.0, 0.0
	for i := range m {
		if large(i) {
			share += shares[i] * float64(m[i].ranks())
		}
	}
	for _, n := range nodes {
		for i := range m {
			if large(i) && m[i].Fits(n) {
				held += math.Floor(of(n) / r * (1 + rounding))
				break
			}
		}
	}
	return held / share
}

// longest returns the longest span of tasks of the mix, and how long one of them had run at most when it was cut short.
func (m taskMix) longest() (span, cut time.Duration) {
	for _, k := range m {
		span, cut = max(span, k.span), max(cut, k.cut)
	}
	return span, cut
}

// perCore returns how much of a resource running tasks need for each of their cores, on average.
func (m taskMix) perCore(of resource) float64 {
	shares := m.shares()
	return m.meanNeed(of, shares) / max(1, m.meanNeed(cpus, shares))
}

// text returns how many tasks have which needs: "200 of 1 core and 2G, 20 of 8 cores, 1 GPU and 32G". Needs that differ in something else,
// as in the time limit, count together. It names at most that many different needs.
func (m taskMix) text(most int) string {
	var all []need
	count := map[need]int{}
	for _, k := range m {
		n := k.need
		if count[n] == 0 {
			all = append(all, n)
		}
		count[n] += k.tasks
	}
	var parts []string
	for i, n := range all {
		if i == most && len(all) > most+1 {
			rest := 0
			for _, n := range all[i:] {
				rest += count[n]
			}
			parts = append(parts, job.FormatCount(rest)+" of "+job.FormatCount(len(all)-i)+" other needs")
			break
		}
		parts = append(parts, job.FormatCount(count[n])+" of "+n.Words())
	}
	return strings.Join(parts, ", ")
}

// differs reports whether tasks of the same name need different resources or ranks.
func (m taskMix) differs() bool {
	return slices.ContainsFunc(m, func(k kind) bool { return k.task == m[0].task && k.need != m[0].need })
}

// slots is how many tasks run at once on a node, on average; less than one of gangs that need several nodes.
type slots float64

// rounding exceeds the relative error of sums of shares.
const rounding = 1e-12

// onNodes returns how many tasks run at once on that many nodes.
func (s slots) onNodes(nodes int) int { return int(float64(s) * float64(nodes) * (1 + rounding)) }

// nodesFor returns on how many nodes that many tasks run at once.
func (s slots) nodesFor(tasks int) int {
	if s <= 0 {
		return tasks
	}
	return int(math.Ceil(float64(tasks) / float64(s) * (1 - rounding)))
}
