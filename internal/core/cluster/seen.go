package cluster

import (
	"cmp"
	"math"
	"strings"
	"time"

	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// Seen returns the jobs of the queue as package starts keeps them. Jobs that cannot start by themselves are left out.
func (s *Snapshot) Seen() []starts.Seen {
	q := s.Queue
	seen := make([]starts.Seen, 0, len(q.Running)+len(q.Pending))
	for i := range q.Running {
		x := q.seen(&q.Running[i])
		x.Start = max(q.Running[i].Start, 1)
		seen = append(seen, x)
	}
	for i := range q.Pending {
		if j := &q.Pending[i]; j.Held == "" {
			seen = append(seen, q.seen(j))
		}
	}
	return seen
}

func (q *Queue) seen(j *Queued) starts.Seen {
	x := starts.Seen{ID: j.ID, Array: arrayOf(j.ID), Part: Number(j.Partition), Own: j.User == q.User, Copies: int32(min(max(j.Repeat, 1), math.MaxInt32))}
	x.Job = starts.Job{User: Number(j.User), Nodes: int32(min(max(j.Count, 1), math.MaxInt32-1)), Limit: max(cmp.Or(j.Limit, timeline.Unbounded), time.Second)}
	return x
}

// arrayOf returns what the id of a job has in common with those of the other jobs of its array: batch systems write 7_3,
// 7[3] or 7.3, and 7_[4-9] for those that wait.
func arrayOf(id string) string {
	if i := strings.IndexAny(id, "_[."); i > 0 {
		return id[:i]
	}
	return id
}
