package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// offer is a kind of node that can be requested: its size, the bounds on one allocation, when such nodes are free,
// and their price. Each size of worker that is tried in a partition is an offer; a node counts as free where such a
// worker fits.
type offer struct {
	limits
	part     *cluster.Partition // whose nodes these are
	perNode  job.Resources      // what a worker has
	price    float64            // of a node for an hour; 0 for those of a batch system
	startUp  float64            // seconds from the start of an allocation until its workers are ready
	usable   int                // nodes that could hold a worker
	capNodes int                // the largest useful number: all tasks run at once, or a bound is reached

	taskSlots, reduceSlots slots // of a node

	view  cluster.View       // of its nodes
	queue *timeline.Timeline // of its free nodes
	line  *timeline.Timeline // the same, without the nodes of present allocations
	slots []timeline.Slot    // of line
	moves *moving            // queue as it will really move; nil: the timeline counts
	left  *timeline.Timeline // of the nodes that limits leave which the job shares with others; nil: it shares none
}

// maxSizes is how many sizes of workers are tried in a partition.
const maxSizes = 4

// offersOf returns the offers of a partition, the largest workers first. The error says why there is none.
func (a *adaptor) offersOf(part *cluster.Partition) ([]*offer, error) {
	nodes, err := a.nodesOf(part)
	if err != nil {
		return nil, err
	}
	if err := a.admits(part, nodes); err != nil {
		return nil, err
	}
	limits := a.limitsOf(part)
	var out []*offer
	for _, size := range a.sizes(part, nodes) {
		o := &offer{limits: limits.ofNodes(size), part: part, perNode: size, startUp: a.startUp(limits)}
		for _, n := range nodes {
			if size.Fits(n.Capacity) {
				o.usable++
			}
		}
		o.taskSlots, o.reduceSlots = a.slotsOf(size, o.usable)
		o.minNodes = max(o.minNodes, a.kinds.nodesOf(size))
		o.capNodes = o.filled(min(max(o.nodesFor(a.mostAtOnce()), a.nodesForAll(size), o.minNodes), o.usable, o.maxNodes))
		if o.minNodes <= min(o.usable, o.maxNodes) {
			out = append(out, o)
		}
	}
	if len(out) == 0 {
		return nil, a.tooManyNodes(part, nodes)
	}
	return out, nil
}

// filled returns the least number of nodes on which as many tasks run at once as on so many: gangs may leave some of these idle.
func (o *offer) filled(nodes int) int {
	if o.taskSlots >= 1-rounding || nodes <= o.minNodes {
		return nodes
	}
	return min(nodes, max(o.minNodes, o.nodesFor(o.taskSlots.onNodes(nodes), o.reduceSlots.onNodes(nodes))))
}

// mostAtOnce returns how many bag tasks or maps, and reduces, could run at once on unlimited nodes.
func (a *adaptor) mostAtOnce() (tasks, reduces int) {
	return min(a.load.Maps, a.throttle), a.load.Reduces
}

// nodesForAll returns on how many nodes all tasks of a mix run at once. Kinds with few or short tasks count
// by their number here, because their part of the running tasks is larger at the start than on average.
func (a *adaptor) nodesForAll(size job.Resources) int {
	tasks, _ := a.mostAtOnce()
	return a.mix.byCount().slotsOn(size).nodesFor(tasks)
}

// nodesFor returns on how many nodes that many tasks and reduces run at once.
func (o *offer) nodesFor(tasks, reduces int) int {
	n := o.taskSlots.nodesFor(tasks)
	if o.reduceSlots > 0 {
		n = max(n, o.reduceSlots.nodesFor(reduces))
	}
	return n
}

// nodesOf returns the usable nodes of a partition, whatever their size, with the capacity that a job may have of them. Where there is none the error says why; its
// class is job.User where the user's own constraint or reservation excludes all nodes, and else job.Transient.
func (a *adaptor) nodesOf(part *cluster.Partition) ([]*cluster.Node, error) {
	indices, facts := a.usable(part, a.kinds.leastNode().GPUs > 0)
	for _, what := range facts.NotUnderstood {
		a.addNote(what)
	}
	var nodes []*cluster.Node
	for _, i := range indices {
		n := a.q.Snap.Nodes[i]
		n.Capacity = part.Allows(n.Capacity)
		nodes = append(nodes, &n)
	}
	if nodes != nil {
		return nodes, nil
	}
	e := job.TransientError("partition "+part.Name, "it has no usable node", nil).Advice("wait, or use another partition")
	var why []string
	for _, x := range facts.Excluded {
		why = append(why, fmt.Sprintf("%s: %s", job.Count(x.Nodes, "node"), x.Reason))
	}
	if why != nil {
		e.What += " (" + strings.Join(why, "; ") + ")"
	}
	if a.req.Constraint != "" || a.reservation() != "" {
		e.Class, e.Code, e.Do = job.User, job.CodeConfig, "change the constraint or the reservation, or use another partition"
	}
	return nil, e
}

// view returns the conditions by which the nodes of a partition are counted.
func (a *adaptor) view(part *cluster.Partition, size job.Resources) cluster.View {
	return cluster.View{Partition: part.Name, PerNode: size, Whole: a.whole(part), Constraint: a.req.Constraint, Reservation: a.reservation(), Account: a.req.Account,
		Asks: strings.Join(a.req.BatchArgs, " ")}
}

// usable returns the usable nodes of a partition for requests of any size, also those that are only for requests of GPUs where gpus is set.
func (a *adaptor) usable(part *cluster.Partition, gpus bool) ([]int, cluster.Facts) {
	v := a.view(part, job.Resources{CPUs: 1})
	if gpus {
		v.Asks += " " + cluster.AskedGPUs
	}
	return a.q.Snap.Usable(v)
}

// reservation returns the reservation that the user requests of the batch system, or an empty string.
func (a *adaptor) reservation() string {
	for _, arg := range a.req.BatchArgs {
		if name, ok := strings.CutPrefix(arg, a.q.Snap.Queue.Words.Reservation); ok && name != arg {
			return name
		}
	}
	return ""
}

// maxRanks is how many numbers of nodes are tried from which on a request goes before more of the pending jobs.
const maxRanks = 8

// findSlots sets the timelines and the free slots of the offers. Where a request with more nodes goes before more of the pending jobs
// (cluster.Rank), it adds offers of the same nodes with more of them at least, for which these jobs are not in the way.
func (d *decision) findSlots() {
	var larger []*offer
	for _, o := range d.offers {
		view := d.view(o.part, o.perNode)
		d.findSlotsOf(o, view)
		for _, n := range spread(d.q.Snap.Overtaking(view, o.capNodes), maxRanks) {
			more := *o
			more.minNodes, view.Nodes = max(n, o.minNodes), n
			d.findSlotsOf(&more, view)
			more.slots = slices.DeleteFunc(more.slots, func(s timeline.Slot) bool { return s.Nodes < n || slices.Contains(o.slots, s) })
			larger = append(larger, &more)
		}
	}
	d.offers = append(d.offers, larger...)
}

// findSlotsOf sets the timeline and the free slots of an offer from now on.
func (a *adaptor) findSlotsOf(o *offer, view cluster.View) {
	o.view = view
	line, _ := a.q.Snap.Timeline(view)
	if o.left = a.q.Snap.Left(a.req.Account, a.req.QOS, view); o.left != nil {
		a.noteLeft(o, line)
		line.Cap(o.left)
	}
	line.Advance(a.q.Now)
	o.queue, o.line, o.slots = line, line, line.Slots()
}

// noteLeft adds a note if limits on all jobs of an account, a QOS or a user leave fewer nodes than are free now.
func (a *adaptor) noteLeft(o *offer, line *timeline.Timeline) {
	if left, free := o.left.At(a.q.Now), line.At(a.q.Now); left < min(free, o.capNodes) {
		a.addNote(fmt.Sprintf("only %s of %s can be used now, because your partition, account or QOS limits all of its jobs together; %s of partition %s are free",
			job.Count(left, "node"), o.perNode.Cores(), job.Count(free, "node"), o.part.Name))
	}
}

// whole reports whether jobs get whole nodes only.
func (a *adaptor) whole(part *cluster.Partition) bool {
	return a.req.Exclusive || part.Whole
}

// admits returns an error of class job.User where a kind of task fits no node of the partition.
func (a *adaptor) admits(part *cluster.Partition, nodes []*cluster.Node) error {
	has := func(r job.Resources) bool {
		return slices.ContainsFunc(nodes, func(n *cluster.Node) bool { return r.Fits(n.Capacity) })
	}
	for i, k := range a.kinds {
		if has(k.onNode()) {
			continue
		}
		n := a.kinds.named(i)
		largest := slices.MaxFunc(nodes, func(x, y *cluster.Node) int { return bySize(x.Capacity, y.Capacity) })
		flag, asks := n.missing(largest.Capacity)
		if has(n.withoutGPUs()) {
			largest = slices.MaxFunc(nodes, func(x, y *cluster.Node) int {
				return cmp.Or(cmp.Compare(x.Capacity.GPUs, y.Capacity.GPUs), bySize(x.Capacity, y.Capacity))
			})
			flag, asks = gpusFlag, n.GPUWords()
		}
		if n.CPUs > 1 && flag != n.cpusFlag && flag != perFlag {
			asks = job.Count(n.CPUs, "core") + " and " + asks
		}
		return job.ConfigError(flag, fmt.Sprintf("a %s needs %s, but no node of partition %s has that; the largest, %s, has %s", n.task, asks,
			part.Name, largest.Name, largest.Capacity.Words()), "request less, or use another partition")
	}
	if !has(a.kinds.leastNode()) {
		return job.ConfigError("partition "+part.Name, "no node has both the cores that one kind of task needs and the memory that the other does", "request less")
	}
	return nil
}

// tooManyNodes returns an error for a least number of nodes that the partition or a limit does not allow.
func (a *adaptor) tooManyNodes(part *cluster.Partition, up []*cluster.Node) error {
	l := a.limitsOf(part)
	if err := a.gangTooLarge(part, up); err != nil {
		return err
	}
	l.minNodes = l.ofNodes(slices.MaxFunc(up, func(x, y *cluster.Node) int { return bySize(x.Capacity, y.Capacity) }).Capacity).minNodes
	where := "--nodes"
	if a.req.MinNodes < l.minNodes {
		where = "partition " + part.Name
	}
	if l.minNodes > l.maxNodes {
		return job.ConfigError(where, fmt.Sprintf("at least %s are required, but %s allows %s a job", job.Count(l.minNodes, "node"), l.nodesBy, job.FormatCount(l.maxNodes)), "request fewer, or use another partition")
	}
	need := a.kinds.leastNode()
	for _, x := range []struct {
		limit cluster.Limit
		each  int
		unit  string
	}{{l.cpus, need.CPUs, "core"}, {l.gpus, need.GPUs, "GPU"}} {
		if x.limit.Value == 0 || int64(x.each)*int64(l.minNodes) <= x.limit.Value {
			continue
		}
		return job.ConfigError(x.limit.By, fmt.Sprintf("at least %s with %s each are required, but it allows %s in all", job.Count(l.minNodes, "node"), job.Count(x.each, x.unit), job.Count(int(x.limit.Value), x.unit)), "request less, or use another account or QOS ("+a.q.Snap.Queue.Words.Limits+")")
	}
	class := job.User
	if l.minNodes <= len(part.Nodes) && len(up) < len(part.Nodes) {
		class = job.Transient // nodes that are down may come back
	}
	return &job.Error{Class: class, Code: job.CodeConfig, Where: where,
		What: fmt.Sprintf("at least %s are required, but partition %s has %s that are up and large enough", job.Count(l.minNodes, "node"), part.Name, job.FormatCount(len(up))),
		Do:   "request fewer, or use another partition"}
}

// gangTooLarge returns an error that says how many nodes a gang needs at least, if the partition or a limit does not allow so many.
func (a *adaptor) gangTooLarge(part *cluster.Partition, up []*cluster.Node) error {
	if !a.kinds.hasGangs() {
		return nil
	}
	l := a.limitsOf(part)
	size := slices.MinFunc(a.sizes(part, up), func(x, y job.Resources) int { return cmp.Compare(a.kinds.nodesOf(x), a.kinds.nodesOf(y)) })
	largest := slices.IndexFunc(a.kinds, func(k kind) bool { return k.asNeeds().NodesOf(size) == a.kinds.nodesOf(size) })
	n, least, usable := a.kinds[largest], a.kinds.nodesOf(size), 0
	for _, x := range up {
		if size.Fits(x.Capacity) {
			usable++
		}
	}
	what := fmt.Sprintf("a %s of %s needs at least %s of %s, but ", n.task, n.Words(), job.Count(least, "node"), size.Words())
	if most := l.ofNodes(size); most.maxNodes < least {
		return job.ConfigError(most.nodesBy, what+most.nodesBy+" allows "+job.FormatCount(most.maxNodes)+" a job", "allow more nodes, or request fewer ranks or less for each")
	} else if usable >= least {
		return nil
	}
	what += "partition " + part.Name + " has " + job.FormatCount(usable)
	if least <= len(part.Nodes) && len(up) < len(part.Nodes) {
		return job.TransientError("partition "+part.Name, what+" that can be used now", nil).Advice("wait, or use another partition")
	}
	return job.ConfigError("partition "+part.Name, what, "request fewer ranks or less for each, or use another partition")
}

// sizes returns the sizes of workers that are tried, the largest first: the largest node, and as long as a task of
// each kind fits, half of that, and so on; at most maxSizes, the smallest among them. No worker gets more cores than
// all tasks together could use (or the partition demands), or than limits allow in all. Where jobs get whole nodes
// only, the sizes are those of the nodes.
func (a *adaptor) sizes(part *cluster.Partition, nodes []*cluster.Node) []job.Resources {
	need, unit := a.kinds.leastWorker(nodes), a.kinds.leastNode().CPUs
	if a.whole(part) {
		return wholeSizes(nodes, need)
	}
	most := need.CPUs
	for _, n := range nodes {
		if need.Fits(n.Capacity) {
			most = max(most, n.Capacity.CPUs)
		}
	}
	l := a.limitsOf(part)
	most = min(most, max(a.useful(), ceilDiv(l.minCPUs, l.minNodes)))
	if cpus := l.cpus.Value; cpus > 0 {
		most = min(most, int(cpus))
	}
	most = max(need.CPUs, min(most, a.coresForGPUs(part, nodes)))
	var cores []int
	for c := most; c > need.CPUs; c /= 2 {
		cores = append(cores, c-c%unit)
	}
	cores = spread(slices.Compact(append(cores, need.CPUs)), maxSizes)
	var out []job.Resources
	for _, c := range cores {
		if size, ok := a.sized(c, need, nodes); ok {
			out = append(out, size)
		}
	}
	if len(out) == 0 {
		out = append(out, need) // admits has found such a node
	}
	return slices.Compact(out)
}

// coresForGPUs returns how many cores are of use on a node whose tasks need GPUs: those of the tasks that have GPUs there.
func (a *adaptor) coresForGPUs(part *cluster.Partition, nodes []*cluster.Node) int {
	most, cores := a.mostGPUs(nodes), 0
	if limit := a.limitsOf(part).gpus.Value; limit > 0 {
		most = int(min(int64(most), limit))
	}
	for _, n := range a.kinds {
		if n.GPUs == 0 {
			return math.MaxInt
		}
		cores = max(cores, most/n.GPUs*n.PerGPU()*n.CPUs)
	}
	return cores
}

// resourceFor returns how much of a resource the tasks need that so many cores run at once.
func (a *adaptor) resourceFor(cores int, of resource) float64 {
	return float64(cores) * max(a.mix.perCore(of), a.reduces.perCore(of)) * (1 - rounding)
}

// mostGPUs returns how many GPUs the node has most of that holds a task of each kind.
func (a *adaptor) mostGPUs(nodes []*cluster.Node) (most int) {
	need := a.kinds.leastNode()
	for _, n := range nodes {
		if need.Fits(n.Capacity) {
			most = max(most, n.Capacity.GPUs)
		}
	}
	return most
}

// useful returns how many cores all tasks together could use at once.
func (a *adaptor) useful() int {
	tasks, reduces := a.mostAtOnce()
	return max(a.mix.coresOf(tasks), a.reduces.coresOf(reduces))
}

// memUnit is the unit to which memory is rounded down: batch systems count it in MiB.
const memUnit = 1 << 20

// sized returns a worker of that many cores, the GPUs of its tasks, and its memory: the cores' share of the memory of the node that has least
// of it (among those with as many cores and GPUs), or what the tasks need if that is more.
func (a *adaptor) sized(cores int, need job.Resources, nodes []*cluster.Node) (job.Resources, bool) {
	share, least := int64(-1), int64(0) // bytes
	need.CPUs, need.GPUs = cores, min(max(need.GPUs, int(math.Ceil(a.resourceFor(cores, gpus)))), a.mostGPUs(nodes))
	for _, n := range nodes {
		has := n.Capacity
		if !need.Fits(has) {
			continue
		}
		if part := has.Mem / int64(has.CPUs) * int64(cores); share < 0 || part < share {
			share = part
		}
		if least == 0 || has.Mem < least {
			least = has.Mem
		}
	}
	if share < 0 {
		return job.Resources{}, false
	}
	need.Mem = max(share-share%memUnit, need.Mem, min(int64(math.Ceil(a.resourceFor(cores, memory)/memUnit))*memUnit, least))
	return need, true
}

// wholeSizes returns the capacities of nodes that hold a task, the largest first. GPUs count only if tasks need some.
func wholeSizes(nodes []*cluster.Node, need job.Resources) []job.Resources {
	var out []job.Resources
	for _, n := range nodes {
		size := n.Capacity
		if size.GPUType = need.GPUType; need.GPUs == 0 {
			size.GPUs = 0
		}
		if need.Fits(n.Capacity) && !slices.Contains(out, size) {
			out = append(out, size)
		}
	}
	slices.SortFunc(out, func(x, y job.Resources) int { return bySize(y, x) })
	return spread(out, maxSizes)
}

// bySize compares the cores of nodes, then their memory, then their GPUs.
func bySize(x, y job.Resources) int {
	return cmp.Or(cmp.Compare(x.CPUs, y.CPUs), cmp.Compare(x.Mem, y.Mem), cmp.Compare(x.GPUs, y.GPUs))
}

// spread returns at most n of the values, evenly spaced, the first and the last among them.
func spread[E any](values []E, n int) []E {
	if len(values) <= n {
		return values
	}
	out := make([]E, n)
	for i := range out {
		out[i] = values[i*(len(values)-1)/(n-1)]
	}
	return out
}

func ceilDiv(n, by int) int { return (n + by - 1) / max(1, by) }
