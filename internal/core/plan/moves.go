package plan

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// numDraws is how many courses of the queue are drawn; more predict no better.
const numDraws = 50

// fewestJobs is how many jobs must have been seen to end before their run times count.
const fewestJobs = 20

// moving is the queue in front of an offer as it will really move: courses drawn from the history of the queue.
type moving struct {
	queue *starts.Queue
	draws starts.Draws
	known map[asked]starts.Waits
	least map[asked]time.Duration // lower bounds of their means
}

// asked is a request at the end of a queue.
type asked struct {
	nodes int
	wall  time.Duration
}

// findMoves sets how the queues in front of the offers will move. It does so for all of them or for none, because starts by
// limits and by history do not compare: the former are mostly too late.
func (d *decision) findMoves() {
	if d.q.Past == nil || d.q.Past.Jobs < fewestJobs {
		return
	}
	queues := make([]*starts.Queue, len(d.offers))
	for i, o := range d.offers {
		why := "your partition, account or QOS limits all of its jobs together"
		if o.left == nil {
			queues[i], why = d.q.Snap.Moving(o.view)
		}
		if queues[i] == nil {
			d.addNote("starts are predicted by the limits of jobs and not by their history, because " + why)
			return
		}
	}
	for i, o := range d.offers {
		queues[i].Now = d.q.Now
		o.moves = d.drawn(queues[i])
		o.addSizes(d.q.Now)
	}
}

// addSizes adds a slot without an end for each of the largest useful number of nodes, three quarters of it, and so on. By limits
// few sizes have one of their own: the later jobs of the queue seem to wait for all that is free before.
func (o *offer) addSizes(now job.Time) {
	for n := o.capNodes; n >= max(o.minNodes, 1); n = min(n-1, n*3/4) {
		at, ok := o.line.EarliestFit(now, n, timeline.Unbounded)
		if slot := (timeline.Slot{Start: at, Nodes: n, Duration: timeline.Unbounded}); ok && !slices.Contains(o.slots, slot) {
			o.slots = append(o.slots, slot)
		}
	}
}

// drawn returns the draws of a queue. Offers with the same nodes have the same queue, and so the same draws.
func (a *adaptor) drawn(queue *starts.Queue) *moving {
	var beside *moving // the same jobs run there
	for _, m := range a.drew {
		if q := m.queue; q.Nodes == queue.Nodes && q.Part == queue.Part && q.Depth == queue.Depth && slices.Equal(q.Running, queue.Running) && slices.Equal(q.Closed, queue.Closed) {
			if beside = m; q.Own == queue.Own && slices.Equal(q.Waiting, queue.Waiting) {
				return m
			}
		}
	}
	m := &moving{queue: queue, known: map[asked]starts.Waits{}, least: map[asked]time.Duration{}}
	if beside != nil {
		m.draws = beside.draws.With(queue)
	} else {
		m.draws = a.q.Past.Draw(queue, numDraws, seedOf(a.q.Spec.Name))
	}
	a.drew = append(a.drew, m)
	return m
}

// behind returns how the queue of an offer moves for a request that goes behind chosen ones. These run for as long as the job has use
// for them, whatever other jobs of the user did.
func (a *adaptor) behind(o *offer, chosen []Candidate) *moving {
	if o.moves == nil {
		return nil
	}
	queue := *o.moves.queue
	queue.Waiting = slices.Clone(queue.Waiting)
	for i := range chosen {
		if c := &chosen[i]; o.overlaps(c.offer) {
			me := cluster.Number(a.q.Snap.Queue.User)
			queue.Waiting = append(queue.Waiting, starts.Job{User: me, Nodes: int32(c.Take), Limit: unbounded(c.wall)})
			queue.Own++
		}
	}
	return a.drawn(&queue)
}

// waitsByDraw returns how long a request would wait in each draw.
func (m *moving) waitsByDraw(nodes int, wall float64) starts.Waits {
	r := asked{nodes, unbounded(wall)}
	w, ok := m.known[r]
	if !ok {
		w = m.draws.Waits(r.nodes, r.wall)
		m.known[r] = w
	}
	return w
}

// atLeast returns a lower bound of the mean wait of a request, in seconds.
func (m *moving) atLeast(nodes int, wall float64) float64 {
	r := asked{nodes, unbounded(wall)}
	w, ok := m.least[r]
	if !ok {
		w = m.draws.AtLeast(r.nodes, r.wall)
		m.least[r] = w
	}
	return w.Seconds()
}

// meanWait returns the mean wait of a request, in seconds; +Inf if it does not start in all draws.
func (m *moving) meanWait(nodes int, wall float64) float64 {
	return inSeconds(m.waitsByDraw(nodes, wall).Mean())
}

// expectedWait returns how long a candidate is expected to wait, in seconds: the mean over the draws, or until its nodes are free by
// limits.
func (a *adaptor) expectedWait(c *Candidate) float64 {
	if m := c.offer.moves; m != nil {
		if w := m.meanWait(c.Take, c.wall); !math.IsInf(w, 1) {
			return w
		}
	}
	return a.free(c, c.wall)
}

// free returns when a candidate's nodes are free for that many seconds, in seconds from now.
func (a *adaptor) free(c *Candidate, wall float64) float64 {
	if !c.part {
		return a.seconds(c.Start)
	}
	return min(a.freeFrom(c.offer.line, 0, c.Take, wall+startDelay.Seconds()), a.seconds(c.Start)) // as longest does
}

// waitAtLeast returns a lower bound of a candidate's wait for any wall time, in seconds.
func (a *adaptor) waitAtLeast(c *Candidate) float64 {
	if m := c.offer.moves; m != nil {
		return m.atLeast(c.Take, a.leastWall(c.offer))
	}
	return a.free(c, a.leastWall(c.offer))
}

// leastWall returns the shortest wall time that a request may have, in seconds.
func (a *adaptor) leastWall(o *offer) float64 {
	if a.known.ok {
		return a.leastUsefulWall(o)
	}
	return min(a.leastBlind(o), o.maxWall)
}

// waitAfter returns when that many nodes can be had for that many seconds by a request that is made at the instant from,
// in seconds from now: the queue is assumed to stay as long as it is. Walls are rounded up to powers of two, as a
// following request is a guess anyway, and many ask for one.
func (a *adaptor) waitAfter(o *offer, from float64, nodes int, wall float64) float64 {
	if m := o.moves; m != nil {
		if !math.IsInf(wall, 1) {
			wall = min(float64(uint64(1)<<bits.Len64(uint64(wall))), max(wall, o.maxWall))
		}
		if w := m.meanWait(nodes, wall); !math.IsInf(w, 1) {
			return from + w
		}
	}
	return max(a.freeFrom(o.line, from, nodes, wall), from+a.freeFrom(o.queue, 0, nodes, wall))
}

// Start is when the first allocation of a plan is predicted to begin, by the history of the queue, in seconds from the
// plan.
type Start struct {
	Median float64 `json:"median"`       // seconds from the plan until the first allocation begins
	Low    float64 `json:"low"`          // … that one start of ten is earlier than
	High   float64 `json:"high"`         // … that one of ten is later than
	Draws  int     `json:"draws"`        // simulations of the queue
	Jobs   int     `json:"history_jobs"` // jobs of this queue that were seen to end, the user's own among them
	// The band by the draws alone, and by how many of the user's own last starts Low and High are calibrated; 0: they are the same.
	RawLow  float64 `json:"raw_low"`    // as `low`, by the simulations alone
	RawHigh float64 `json:"raw_high"`   // as `high`, by the simulations alone
	Starts  int     `json:"own_starts"` // the user's own last starts that moved `low` and `high`; 0: none
}

// Came returns the band by the draws beside the wait that came. It returns false where the nodes were free at once.
func (s *Start) Came(wait time.Duration) (starts.Came, bool) {
	if s == nil || s.RawHigh <= 0 {
		return starts.Came{}, false
	}
	return starts.Came{Band: starts.Band{Low: asDuration(s.RawLow), High: asDuration(s.RawHigh)}, Wait: max(wait, 0)}, true
}

// predictedStart returns the predicted start of the earliest chosen request; nil where the history does not predict it.
func (d *decision) predictedStart() *Start {
	if len(d.chosen) == 0 || d.chosen[0].offer.moves == nil {
		return nil
	}
	c := &d.chosen[0]
	var waits starts.Waits
	if c.waits != nil {
		waits = c.waits.Sorted()
	} else {
		waits = c.offer.moves.waitsByDraw(c.Take, c.wall)
	}
	raw := waits.Band()
	if raw.High == timeline.Unbounded {
		return nil
	}
	band, by := d.q.Past.Calibrated(raw)
	median, low, high := inSeconds(waits.Median()), inSeconds(band.Low), inSeconds(band.High)
	return &Start{Median: micros(median), Low: micros(min(low, median)), High: micros(max(high, median)), Draws: len(waits), Jobs: d.q.Past.Jobs,
		RawLow: micros(raw.Low.Seconds()), RawHigh: micros(raw.High.Seconds()), Starts: by}
}

// unbounded returns a wall time as a duration, Unbounded where it has no end.
func unbounded(wall float64) time.Duration {
	if math.IsInf(wall, 1) {
		return timeline.Unbounded
	}
	return limitDuration(wall)
}

// inSeconds returns a wait in seconds, +Inf for one without an end.
func inSeconds(wait time.Duration) float64 {
	if wait == timeline.Unbounded {
		return math.Inf(1)
	}
	return wait.Seconds()
}
