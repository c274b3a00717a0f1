package cluster

// Usable returns the nodes that could hold a worker of the view, by their index in the snapshot, and the facts about
// nodes.
func (s *Snapshot) Usable(v View) ([]int, Facts) {
	l := s.lineup(v)
	nodes := make([]int, len(l.nodes))
	for i := range l.nodes {
		nodes[i] = l.nodes[i].node
	}
	return nodes, l.facts
}
