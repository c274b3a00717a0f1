package plan

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// part is the part of a bag's tasks that the same nodes can run. Each part gets requests of its own (models.md, "Tasks of
// different needs").
type part struct {
	mix   taskMix
	homes []*cluster.Partition // where its workers may be requested
	nodes []int                // of the snapshot, in ascending order: those that hold a task of each kind
	live  []int                // of Question.live, likewise
	gpus  bool                 // its tasks need GPUs
}

// tasksLeft returns the bag tasks or maps that are not done, by their needs. They are of one kind where all need what the job's do and nothing
// more is known of any.
func (q *Question) tasksLeft() taskMix {
	all := tasksOf(q.Spec, q.tasks())
	if q.Spec.Kind != job.Bag {
		return all
	}
	r, needs := q.Remaining, q.Counts.Needs
	if r != nil && r.Needs != nil {
		needs = r.Needs
	}
	m := mixOf(needs)
	if m == nil || q.Own == nil && !m.differs() && m[0].need == all[0].need {
		all[0].span, all[0].cut = m.longest()
		return all
	}
	if r == nil || r.Needs != nil {
		return m
	}
	before := m.count()
	for i := range m { // in proportion
		m[i].tasks = max(1, m[i].tasks*r.Tasks/before)
	}
	return m
}

// divide returns the parts of a bag, those with the fewest nodes first. It returns nil where all tasks need what the bag's need, and the
// partitions where such jobs run have nodes for them: nothing is divided then.
func (q *Question) divide() ([]part, error) {
	if q.Spec.Kind != job.Bag {
		return nil, nil
	}
	m := q.tasksLeft()
	usual := m.allUsual()
	d := divider{q: q, a: newAdaptor(q), usable: map[string][]int{}}
	base, why, err := partitions(q)
	if err != nil || usual && (why != "" || q.Spec.Request.Partition != "") {
		return nil, nil // the plan says what is wrong
	}
	d.base = base
	for _, k := range m {
		k.tasks = max(1, k.tasks)
		p := d.partOf(k)
		if p.homes == nil && usual {
			return nil, nil
		}
		if p.homes == nil {
			return nil, taskMix{k}.noRoom(0, d.noHome(k))
		}
		d.parts = append(d.parts, p)
	}
	if usual && slices.Equal(d.parts[0].homes, base) {
		return nil, nil
	}
	d.join()
	return d.parts, nil
}

// tasks returns the number of tasks that are not done.
func (q *Question) tasks() int {
	if q.Remaining != nil {
		return q.Remaining.Tasks
	}
	return q.Counts.Tasks
}

// divider divides the tasks of a bag into parts.
type divider struct {
	q      *Question
	a      *adaptor
	base   []*cluster.Partition // where the job would run if all tasks needed the same
	parts  []part
	usable map[string][]int // of partitions: their usable nodes
}

// nodes returns the usable nodes of a partition.
func (d *divider) nodes(p *cluster.Partition) []int {
	nodes, ok := d.usable[p.Name]
	if !ok {
		nodes, _ = d.a.usable(p, true)
		slices.Sort(nodes)
		d.usable[p.Name] = nodes
	}
	return nodes
}

// holding returns the nodes of a partition that hold a task of a kind.
func (d *divider) holding(p *cluster.Partition, k *kind) (nodes []int) {
	for _, i := range d.nodes(p) {
		if k.Fits(d.q.Snap.Nodes[i].Capacity) && (k.GPUs > 0 || !strings.Contains(p.Forced[i], cluster.AskedGPUs)) {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

// partOf returns the part that one kind of tasks would be. Where the user named no partition and that of other jobs has no node for such a
// task, it is any that has; a partition with GPUs on all of these nodes serves tasks without GPUs only where no other does.
func (d *divider) partOf(k kind) part {
	p := part{mix: taskMix{k}, gpus: k.GPUs > 0}
	p.homes = d.homes(d.base, &k)
	if p.homes == nil && d.q.Spec.Request.Partition == "" {
		queue := d.q.Snap.Queue
		var open []*cluster.Partition
		for i := range queue.Partitions {
			if queue.Partitions[i].Closed == "" {
				open = append(open, &queue.Partitions[i])
			}
		}
		p.homes = d.homes(open, &k)
	}
	for _, home := range p.homes {
		p.nodes = append(p.nodes, d.holding(home, &k)...)
	}
	slices.Sort(p.nodes)
	p.nodes = slices.Compact(p.nodes)
	for i, l := range d.q.liveAllocations() {
		if p.mix.fitsIn(l.Request.PerNode, l.Request.Nodes) {
			p.live = append(p.live, i)
		}
	}
	return p
}

// homes returns those of the partitions that have nodes for a kind of tasks.
func (d *divider) homes(among []*cluster.Partition, k *kind) (homes []*cluster.Partition) {
	var plain []*cluster.Partition // with such nodes that have no GPUs
	for _, p := range among {
		nodes := d.holding(p, k)
		if leastOf(&k.need, d.q.Snap.Nodes, nodes) == 0 {
			continue
		}
		homes = append(homes, p)
		if slices.ContainsFunc(nodes, func(i int) bool { return d.q.Snap.Nodes[i].Capacity.GPUs == 0 }) {
			plain = append(plain, p)
		}
	}
	if k.GPUs == 0 && plain != nil {
		return plain
	}
	return homes
}

// leastOf returns how many equal ones of these nodes, which hold a task or a rank of a gang, a task needs at least; 0: they are too few.
func leastOf(n *need, all []cluster.Node, nodes []int) (least int) {
	if !n.Several() {
		return min(1, len(nodes))
	}
	var sizes []job.Resources
	for _, i := range nodes {
		if has := all[i].Capacity; !slices.Contains(sizes, has) {
			sizes = append(sizes, has)
		}
	}
	for _, size := range sizes {
		usable := 0
		for _, i := range nodes {
			if size.Fits(all[i].Capacity) {
				usable++
			}
		}
		if on := n.asNeeds().NodesOf(size); on <= usable && (least == 0 || on < least) {
			least = on
		}
	}
	return least
}

// noHome returns the error for tasks that no node holds. Nodes that are down may come back.
func (d *divider) noHome(k kind) error {
	p, plain := d.base[0], k
	k.task += " of " + k.Words()
	nodes, err := d.a.nodesOf(p)
	if err != nil {
		return err
	}
	holds := func(i int) bool { return i >= 0 && i < len(d.q.Snap.Nodes) && k.Fits(d.q.Snap.Nodes[i].Capacity) }
	fits := slices.ContainsFunc(nodes, func(n *cluster.Node) bool { return k.Fits(n.Capacity) })
	if chosen := d.a.req.Constraint != "" || d.a.reservation() != ""; !chosen && !fits && slices.ContainsFunc(p.Nodes, holds) {
		return job.TransientError("partition "+p.Name, "the nodes that hold a "+k.task+" cannot be used now", nil).Advice("wait, or use another partition")
	}
	d.a.setKinds(taskMix{k}, nil)
	if err := d.a.admits(p, nodes); err != nil || !k.Several() {
		return err
	}
	d.a.setKinds(taskMix{plain}, nil)
	return d.a.tooManyNodes(p, nodes)
}

// join makes one part of parts of which most nodes are the same, the one with the fewest nodes first. Parts of tasks with and without GPUs
// stay apart, as do those that other present allocations serve.
func (d *divider) join() {
	slices.SortStableFunc(d.parts, func(x, y part) int {
		nx, ny := x.mix.leastNode(), y.mix.leastNode()
		return cmp.Or(cmp.Compare(len(x.nodes), len(y.nodes)), cmp.Compare(ny.GPUs, nx.GPUs), bySize(ny, nx),
			cmp.Compare(x.mix[0].index, y.mix[0].index))
	})
	var out []part
	for _, p := range d.parts {
		at := slices.IndexFunc(out, func(o part) bool { return o.takes(&p) })
		if at < 0 {
			out = append(out, p)
		} else {
			out[at].mix = append(out[at].mix, p.mix...)
		}
	}
	d.parts = out
	for most := d.q.Spec.Request.MaxAllocs; most > 0 && len(d.parts) > most && d.joinTwo(); {
	}
	for i := range d.parts {
		slices.SortFunc(d.parts[i].mix, func(x, y kind) int { return cmp.Compare(x.index, y.index) })
	}
}

// takes reports whether the nodes of part p that tasks of another part have besides are few enough to do without them.
func (p *part) takes(other *part) bool {
	if p.gpus != other.gpus || !slices.Equal(p.live, other.live) || !slices.Equal(p.homes, other.homes) ||
		2*len(p.nodes) < len(other.nodes) {
		return false
	}
	return len(common(p.nodes, other.nodes)) == len(p.nodes)
}

// joinTwo makes one part of the last two that have a node in common, and reports whether there were any.
func (d *divider) joinTwo() bool {
	for j := len(d.parts) - 1; j > 0; j-- {
		for i := j - 1; i >= 0; i-- {
			p, other := &d.parts[i], &d.parts[j]
			if both := common(p.nodes, other.nodes); len(both) > 0 {
				p.mix, p.nodes, p.live = append(p.mix, other.mix...), both, common(p.live, other.live)
				p.homes = slices.DeleteFunc(p.homes, func(h *cluster.Partition) bool { return len(common(both, d.nodes(h))) == 0 })
				d.parts = slices.Delete(d.parts, j, j+1)
				return true
			}
		}
	}
	return false
}

// common returns what is in both of two ascending lists.
func common(x, y []int) (out []int) {
	for _, v := range x {
		if _, ok := slices.BinarySearch(y, v); ok {
			out = append(out, v)
		}
	}
	return out
}

// partitionList returns the names of partitions in sbatch's form.
func partitionList(parts []*cluster.Partition) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Name
	}
	return strings.Join(names, ",")
}
