package sched

import "berth/internal/core/job"

// pile has the tasks with the same data.
type pile struct {
	tasks []int32 // in ascending order; started ones are removed later
	taken bool    // a host has the data, as one of the tasks was started there
}

// Near sets which tasks have the same data, and the hosts that have it.
func (q *Ready) Near(data []job.DataHost) {
	q.near, q.of = make(map[string][]*pile, len(data)), make(map[int32]*pile)
	for _, d := range data {
		p := &pile{tasks: d.Tasks}
		q.near[d.Host] = append(q.near[d.Host], p)
		if d.Host == "" {
			for _, task := range d.Tasks {
				q.of[task] = p
			}
		}
	}
}

// Started notes that a host has the data of a task, as the task was started there.
func (q *Ready) Started(host string, task int32) {
	if p := q.of[task]; p != nil {
		p.taken = true
		q.near[host] = append(q.near[host], p)
	}
}

// Local returns the first task that never started of those whose data the host has, or, if host is empty, no host has; false if there is none.
func (q *Ready) Local(host string) (task int32, ok bool) {
	for piles := q.near[host]; len(piles) > 0; piles = piles[1:] {
		p := piles[0]
		for len(p.tasks) > 0 && !q.fresh.Has(int(p.tasks[0])) {
			p.tasks = p.tasks[1:]
		}
		if len(p.tasks) > 0 && !(p.taken && host == "") {
			q.near[host] = piles
			return p.tasks[0], true
		}
	}
	delete(q.near, host)
	return 0, false
}
