package batch

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// easyReference is EASY by its definition: a job starts if it fits beside the running jobs and the head's
// reservation, all until their limits.
type easyReference struct {
	shortest bool
	nodes    int
	jobs     map[ID]Entry
	running  []ID
	waiting  []ID
	ended    []ID // ended early since the last start
	arrived  []ID // arrived since the last start
}

func newEASYReference(nodes int, sjbf bool) *easyReference {
	return &easyReference{shortest: sjbf, nodes: nodes, jobs: map[ID]Entry{}}
}

func (t *easyReference) submit(now job.Time, e Entry) {
	t.jobs[e.ID] = e
	t.arrived = append(t.arrived, e.ID)
}

func (t *easyReference) cancel(now job.Time, id ID) {
	t.waiting, t.arrived = without(t.waiting, id), without(t.arrived, id)
}

func (t *easyReference) end(now job.Time, id ID) {
	if e := t.jobs[id]; after(e.Start, e.Limit) > now {
		t.ended = append(t.ended, id)
	} else {
		t.running = without(t.running, id)
	}
}

func (t *easyReference) resize(now job.Time, more int) {
	for _, id := range t.ended {
		t.running = without(t.running, id)
	}
	t.ended = nil
	t.nodes += more
}

func (t *easyReference) start(now job.Time) (ids []ID) {
	ids = t.pass(now, ids)
	for _, id := range t.ended {
		t.running = without(t.running, id)
		ids = t.pass(now, ids)
	}
	t.ended = nil
	for _, id := range t.arrived {
		t.waiting = append(t.waiting, id)
		ids = t.pass(now, ids)
	}
	t.arrived = nil
	return ids
}

func (t *easyReference) pass(now job.Time, ids []ID) []ID {
	for len(t.waiting) > 0 && t.jobs[t.waiting[0]].Nodes <= t.free(now, nil) {
		ids = t.launch(now, t.waiting[0], ids)
	}
	if len(t.waiting) == 0 {
		return ids
	}
	order := slices.Clone(t.waiting[1:])
	if t.shortest {
		slices.SortStableFunc(order, func(a, b ID) int { return int(t.jobs[a].Limit - t.jobs[b].Limit) })
	}
	for _, id := range order {
		head := t.jobs[t.waiting[0]]
		head.Start = t.reservation(now)
		if e := t.jobs[id]; t.fits(now, &e, &head) {
			ids = t.launch(now, id, ids)
		}
	}
	return ids
}

func (t *easyReference) launch(now job.Time, id ID, ids []ID) []ID {
	t.waiting = without(t.waiting, id)
	t.running = append(t.running, id)
	e := t.jobs[id]
	e.Start = now
	t.jobs[id] = e
	return append(ids, id)
}

// free returns the free nodes at an instant beside the running jobs and the head.
func (t *easyReference) free(at job.Time, head *Entry) int {
	free := t.nodes
	for _, id := range t.running {
		if e := t.jobs[id]; at < after(e.Start, e.Limit) {
			free -= e.Nodes
		}
	}
	if head != nil && head.Start <= at && at < after(head.Start, head.Limit) {
		free -= head.Nodes
	}
	return free
}

// events returns the instants from now on at which the number of free nodes changes.
func (t *easyReference) events(now job.Time, head *Entry) []job.Time {
	all := []job.Time{now}
	for _, id := range t.running {
		e := t.jobs[id]
		all = append(all, after(e.Start, e.Limit))
	}
	if head != nil {
		all = append(all, head.Start, after(head.Start, head.Limit))
	}
	slices.Sort(all)
	return all
}

// fits reports whether a job can run from now on beside the running jobs and the head.
func (t *easyReference) fits(now job.Time, e, head *Entry) bool {
	for _, at := range t.events(now, head) {
		if now <= at && at < after(now, e.Limit) && t.free(at, head) < e.Nodes {
			return false
		}
	}
	return true
}

// reservation returns the first instant at which the head fits, or Never.
func (t *easyReference) reservation(now job.Time) job.Time {
	all := append(slices.Clone(t.waiting), t.arrived...)
	if len(all) == 0 {
		return timeline.Never
	}
	head := t.jobs[all[0]]
	for _, at := range t.events(now, nil) {
		if at < timeline.Never && t.free(at, nil) >= head.Nodes {
			return at
		}
	}
	return timeline.Never
}

func (t *easyReference) planned(now job.Time, id ID) job.Time {
	if all := append(slices.Clone(t.waiting), t.arrived...); id != all[0] {
		return timeline.Never
	}
	return t.handled().reservation(now)
}

// handled returns a copy in which all ended jobs have been handled.
func (t *easyReference) handled() *easyReference {
	c := *t
	for _, id := range t.ended {
		c.running = without(c.running, id)
	}
	return &c
}

func (t *easyReference) freeAt(now, at job.Time) int {
	c := t.handled()
	all := append(slices.Clone(t.waiting), t.arrived...)
	if len(all) == 0 {
		return c.free(at, nil)
	}
	head := t.jobs[all[0]]
	if head.Start = c.reservation(now); head.Start == timeline.Never {
		return c.free(at, nil)
	}
	return c.free(at, &head)
}

func without(ids []ID, id ID) []ID {
	i := slices.Index(ids, id)
	if i < 0 {
		return ids
	}
	return slices.Delete(slices.Clone(ids), i, i+1)
}
