package sched

// pacesNet is the share of its network that a node divides among the reduces that fetch there. It is above 1, as few of
// them use their whole rate at any moment.
const pacesNet = 1.25

// unpace notes that the set of reduces that fetch on the node has changed.
func (p *Pool) unpace(n *Node) {
	if !n.unpaced && n.Capacity.Net > 0 {
		n.unpaced = true
		p.unpaced = append(p.unpaced, n)
	}
}

// Pace calls tell for each reduce whose fetch rate has changed, and its node. The reduces of a node that fetch and need
// not wait for maps divide its network evenly (job.Grant.Net), however many connections each has. A single one has no
// limit, nor has a reduce that waits for maps, as it fetches only now and then.
func (p *Pool) Pace(tell func(*Node, *Running)) {
	var later []*Node
	for _, n := range p.unpaced {
		if n.Up {
			n.unpaced = false
			n.pace(tell)
		} else {
			later = append(later, n)
		}
	}
	p.unpaced = append(p.unpaced[:0], later...)
}

func (n *Node) pace(tell func(*Node, *Running)) {
	count := int64(0)
	for _, a := range n.Running {
		if a.fetches() {
			count++
		}
	}
	for _, a := range n.Running {
		net := int64(0)
		if count > 1 && a.fetches() {
			net = int64(pacesNet*float64(n.Capacity.Net)) / count
		}
		if net != a.Net && a.Shuffles() {
			a.Net = net
			tell(n, a)
		}
	}
}

// fetches reports whether the attempt is a reduce that fetches and need not wait for maps.
func (r *Running) fetches() bool {
	return r.Shuffles() && !r.waits && !r.Job.Waits && r.KillReason == ""
}
