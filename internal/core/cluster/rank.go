package cluster

import "slices"

// rank returns what a node of the view adds to the rank of a request.
func (q *Queue) rank(v View) float64 {
	each := q.Rank.PerCore
	if v.Whole {
		each += q.Rank.Whole
	}
	return each * float64(max(v.PerNode.CPUs, 1))
}

// overtaken reports whether the request goes before a pending job because of its size.
func (l *lineup) overtaken(j *Queued) bool {
	return j.Rank > 0 && float64(l.view.Nodes)*l.queue.rank(l.view) > j.Rank
}

// Overtaking returns from how many nodes of the view on a request goes before more of the pending jobs, in ascending order and up
// to most. It is empty where the order does not depend on the size of a request.
func (s *Snapshot) Overtaking(v View, most int) (nodes []int) {
	each := s.Queue.rank(v)
	for i := range s.Queue.Pending {
		if j := &s.Queue.Pending[i]; each > 0 && j.Rank > 0 && j.Held == "" && j.Rank < each*float64(most) {
			nodes = append(nodes, int(j.Rank/each)+1)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}
