package cluster

// Usable returns the nodes that could hold a worker of the view, by their index in the
// snapshot, and of the facts those that are about nodes.
func (s *Snapshot) Usable(v View) ([]int, Facts) {
	v.PerNode.CPUs = max(v.PerNode.CPUs, 1)
	l := lineup{snap: s, view: v, queue: s.Queue}
	if l.queue == nil {
		l.queue = &Queue{}
	}
	l.findPartitions()
	l.findNodes()
	nodes := make([]int, len(l.nodes))
	for i := range l.nodes {
		nodes[i] = l.nodes[i].node
	}
	return nodes, l.facts
}
