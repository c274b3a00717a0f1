package sched

// pacesNet is how much of its network a node shares out among the reduces that fetch there: more than there is, as few fetch at
// each moment what they may.
const pacesNet = 1.25

// unpace notes that the reduces which fetch on the node are others.
func (p *Pool) unpace(n *Node) {
	if !n.unpaced && n.Capacity.Net > 0 {
		n.unpaced = true
		p.unpaced = append(p.unpaced, n)
	}
}

// Pace calls tell for each reduce whose rate to fetch with has changed, and its node: those that fetch on a node and need not wait
// for maps share its network evenly (job.Grant.Net), however many connections each has. One alone has no limit, nor has a
// reduce that waits for maps, as it fetches now and then only.
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
func (r *Running) fetches() bool { return r.Shuffles() && !r.waits && !r.Job.Waits && r.Doomed == "" }
