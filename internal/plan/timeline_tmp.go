package plan

import "berth/internal/cluster"

// timeline returns the free nodes of a place as far as jobs' sizes alone tell.
func (a *adaptor) timeline(p *place) *cluster.Timeline {
	line := cluster.NewTimeline(a.q.Now, p.usable)
	add := func(j cluster.Queued) {
		end := cluster.Never
		if j.Limit > 0 {
			end = j.Start.Add(j.Limit)
		}
		line.Add(j.Start, end, -j.Count)
	}
	for _, j := range a.q.Snap.Queue.Running {
		add(j)
	}
	for _, j := range a.q.Snap.Queue.Pending {
		if at, ok := line.EarliestFit(max(j.Start, a.q.Now), j.Count, max(j.Limit, 1)); ok {
			j.Start = at
			add(j)
		}
	}
	return line
}
