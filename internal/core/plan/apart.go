package plan

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const (
	// mostApart is how many requests are made at most where nodes are requested apart, unless the user sets --max-allocs.
	mostApart = 6
	// mostSplit is how many jobs a queue may have for that: each trial draws it again.
	mostSplit = 2000
	// The job is simulated in at least leastDraws of the draws, and in as many as give mostInDraws tasks in all.
	leastDraws, mostInDraws = 4, 1 << 17
)

// splitRequests makes several requests of each that waits, unless the job is done later with them, and then adds such requests as long as each
// makes it done sooner by more than closeBy. Nodes mostly become free one after the other, and in each draw of the queue others do first:
// the mean starts of requests do not show what it gains to ask for all of them.
func (d *decision) splitRequests() {
	most := d.allocs() + d.moreApart()
	if !d.splits() || len(d.chosen) >= most {
		return
	}
	best, nodes := slices.Clone(d.chosen), d.apartNodes(most)
	mean := d.meanDrawn(best)
	if all := d.apart(nodes); len(all) > len(best) {
		if m := d.meanDrawn(all); m <= mean {
			best, mean = all, m
		}
	}
	c := d.oneMore(nodes)
	for useful := d.usefulApart(&c); len(best) < most && useful >= c.Take && d.spent < maxPlaced; useful -= c.Take {
		all := append(slices.Clone(best), c)
		m := d.meanDrawn(all)
		if m > mean*(1-closeBy) {
			break
		}
		best, mean = all, m
	}
	if len(best) > len(d.chosen) {
		d.takeRequests(best)
		d.simulatePresent()
	}
}

// moreApart returns how many requests may be made besides those of allocs where nodes are requested apart.
func (d *decision) moreApart() int {
	if d.req.MaxAllocs > 0 || d.req.WallTime == job.WallUpper || d.q.allocs != nil {
		return 0
	}
	return mostApart - defaultAllocs
}

// splits reports whether nodes can be requested apart: some requests wait, and how long is drawn.
func (d *decision) splits() (waits bool) {
	for i := range d.chosen {
		m := d.chosen[i].offer.moves
		if m == nil || len(m.queue.Running)+len(m.queue.Waiting) > mostSplit {
			return false
		}
		waits = waits || d.chosen[i].Wait > 0
	}
	return waits
}

// apartNodes returns how many nodes each request has where nodes are requested apart: so few that there are at most that many requests.
func (d *decision) apartNodes(most int) int {
	n := 0
	for i := range d.chosen {
		if d.chosen[i].Wait > 0 {
			n += d.chosen[i].Take
		}
	}
	for n = max(1, n/most); len(d.apart(n)) > most; n++ {
	}
	return n
}

// apart returns the chosen requests with requests of so many nodes in place of each that waits.
func (d *decision) apart(nodes int) (all []Candidate) {
	for _, c := range d.chosen {
		least := max(1, c.offer.minNodes)
		for n := c.offer.filled(max(nodes, least)); c.Wait > 0 && c.Take >= n+least; c.Take -= n {
			part := c
			part.Take, part.main = n, false
			all = append(all, part)
		}
		all = append(all, c)
	}
	return all
}

// oneMore returns a request of so many nodes like the chosen one that waits longest.
func (d *decision) oneMore(nodes int) Candidate {
	c := slices.MaxFunc(d.chosen, func(x, y Candidate) int { return cmp.Compare(x.Wait, y.Wait) })
	c.Take, c.main = c.offer.filled(max(nodes, c.offer.minNodes)), false
	return c
}

// usefulApart returns how many nodes like those of a request are of use to the job besides the chosen ones.
func (d *decision) usefulApart(c *Candidate) int {
	if d.idleCost() > 0 { // whether more nodes save as much as they cost is not judged here
		return 0
	}
	return d.usefulNodes(c.offer, c.Wait, c.wallEnd())
}

// meanDrawn sets when requests begin, and returns when the job is done on average if they begin as in each draw of the queue.
func (d *decision) meanDrawn(all []Candidate) float64 {
	d.together(all)
	windows := d.windowsOf(all, func(c *Candidate) float64 { return c.Wait })
	following, last := d.withFollowing(all[0].offer, windows)
	following = following[len(windows):]
	before := d.trials.Placed()
	draws := min(numDraws, max(leastDraws, mostInDraws/max(1, d.load.Maps+d.load.Reduces)))
	mean := d.trials.MeanEach(draws, func(draw int) []predict.Window {
		drawn, end := d.windowsOf(all, func(c *Candidate) float64 { return c.inDraw(draw) }), 0.0
		for _, w := range drawn {
			end = max(end, w.End)
		}
		for _, w := range following {
			w.Start, w.End = w.Start+end-last, w.End+end-last
			drawn = append(drawn, w)
		}
		return drawn
	})
	d.spent += d.trials.Placed() - before
	return mean
}

// windowsOf returns the windows of the present allocations and of requests that begin as wait says.
func (d *decision) windowsOf(all []Candidate, wait func(*Candidate) float64) []predict.Window {
	windows := slices.Clone(d.live)
	for _, c := range all {
		c.Wait = wait(&c)
		windows = append(windows, c.window())
	}
	return windows
}

// inDraw returns how long a request waits in a draw of the queue, in seconds; the mean where that is not known.
func (c *Candidate) inDraw(draw int) float64 {
	if c.waits == nil {
		return c.Wait
	}
	return inSeconds((*c.waits)[draw])
}
