package plan

import (
	"cmp"
	"math"
	"slices"
)

// take makes requests the chosen ones.
func (d *decision) take(all []Candidate) {
	d.chosen, d.windows = all, slices.Clone(d.live)
	for i := range all {
		if d.windows = append(d.windows, all[i].window()); all[i].main {
			d.first = all[i]
		}
	}
}

// worthAll makes requests the chosen ones unless the job is then done later than the limit, and returns the fraction of runs that overrun
// them. Where starts are drawn it sees that one of them begins later because another one has nodes that it would have had.
func (d *decision) worthAll(all []Candidate, limit float64) (undone float64, ok bool) {
	before, first, runs := d.chosen, d.first, d.runs
	drawn := d.together(all)
	d.take(all)
	if undone = d.simulatePresent(); !drawn || d.runs.Mean() <= limit {
		return undone, true
	}
	d.take(before)
	d.first, d.runs = first, runs
	return 0, false
}

// together sets when requests begin if all of them are made, the earliest first. It returns false where starts are not drawn.
func (d *decision) together(all []Candidate) bool {
	if len(all) < 2 || all[0].offer.moves == nil {
		return false
	}
	for range all { // in the order of their starts, which may change it
		if inOrder(all); !d.startAll(all) {
			break
		}
	}
	return true
}

// startAll sets when requests begin if they are made in this order, and reports whether a later one begins before an earlier one.
func (d *decision) startAll(all []Candidate) bool {
	for i := range all {
		c, m := &all[i], d.behind(all[i].offer, all)
		place := len(m.queue.Waiting) - m.queue.Own
		for k := range all[:i] {
			if c.offer.overlaps(all[k].offer) {
				place++
			}
		}
		waits := m.draws.Waiting(place)
		if w := inSeconds(waits.Mean()); !math.IsInf(w, 1) {
			c.Wait, c.waits = w, &waits
		}
	}
	return !slices.IsSortedFunc(all, func(x, y Candidate) int { return cmp.Compare(x.Wait, y.Wait) })
}

// mostSplit is how many jobs a queue may have for requests to be split: each trial draws it again.
const mostSplit = 2000

// split makes two requests of the widest one that waits, each for a half of its nodes, as long as the job is done sooner with them:
// nodes mostly become free one after the other.
func (d *decision) split() {
	for len(d.chosen) > 0 && len(d.chosen) < d.allocs() && d.spent < maxPlaced {
		c := slices.MaxFunc(d.chosen, func(x, y Candidate) int { return cmp.Compare(x.splits(), y.splits()) })
		if c.splits() == 0 {
			return
		}
		if _, ok := d.worthAll(d.halved(&c), d.runs.Mean()*(1-gainBy)); !ok {
			return
		}
	}
}

// splits returns how many nodes of a request could be requested apart; 0: none.
func (c *Candidate) splits() int {
	m := c.offer.moves
	if m == nil || c.Wait == 0 || c.Take < 2*max(1, c.offer.minNodes) || len(m.queue.Running)+len(m.queue.Waiting) > mostSplit {
		return 0
	}
	return c.Take / 2
}

// halved returns the chosen requests with two in place of one.
func (d *decision) halved(c *Candidate) []Candidate {
	all := slices.Clone(d.chosen)
	i := slices.IndexFunc(all, func(x Candidate) bool {
		return x.main == c.main && x.offer == c.offer && x.Take == c.Take && x.Wait == c.Wait
	})
	half := all[i]
	half.Take = c.splits()
	all[i].Take -= half.Take
	half.main, half.Wait = false, d.wait(&half)
	return append(all, half)
}
