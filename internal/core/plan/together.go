package plan

import (
	"cmp"
	"math"
	"slices"
)

// takeRequests makes requests the chosen ones.
func (d *decision) takeRequests(all []Candidate) {
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
	before, runs := d.chosen, d.runs
	drawn := len(all) > 1 && all[0].offer.moves != nil
	if drawn {
		d.together(all)
	}
	d.takeRequests(all)
	if undone = d.simulatePresent(); !drawn || d.runs.Mean() <= limit {
		return undone, true
	}
	d.takeRequests(before)
	d.runs = runs
	return 0, false
}

// together sets when requests begin if all of them are made, the earliest first.
func (d *decision) together(all []Candidate) {
	for range all { // in the order of their starts, which may change it
		if inOrder(all); !d.startAll(all) {
			return
		}
	}
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
