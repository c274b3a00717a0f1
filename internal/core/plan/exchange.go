package plan

import (
	"fmt"
	"math"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

const (
	// exchangeShare and exchangeBy are by how much of the present turnaround, and by how many seconds, a job must be done sooner for
	// its waiting requests to be exchanged: new ones lose the place in the queue, and predictions err.
	exchangeShare, exchangeBy = 0.1, 180.0
	// exchangeSoon is the expected wait, in seconds, up to which requests are not exchanged.
	exchangeSoon = 120.0
)

// Sooner plans a job as if its waiting requests were not there, and returns in a sentence why the requests of this plan pay in place of
// them; empty: they do not. The waiting ones are expected to begin by their places in the queue, in the same draws as the new ones behind
// all that wait. By limits nothing is exchanged: what is free now would seem to be sooner than what waits, and mostly is not. Jobs whose
// tasks take unknown times keep their requests, and so do bags whose tasks need different nodes, and all where places are reserved.
func Sooner(q Question, waiting []job.AllocID) (p Plan, why string, err error) {
	if parts, err := q.divide(); err != nil || parts != nil || q.Past == nil || q.placesReserved() {
		return Plan{}, "", err
	}
	all := *q.Remaining
	rest := all
	all.Live = slices.DeleteFunc(slices.Clone(all.Live), func(l job.Live) bool { return !slices.Contains(waiting, l.ID) })
	rest.Live = nil
	q.Remaining, q.Brief = &all, false
	present, err := q.present()
	if err != nil || math.IsNaN(present.turnaround) || present.start <= exchangeSoon {
		return Plan{}, "", err
	}
	q.Remaining, q.Snap = &rest, q.Snap.Leaving(waiting)
	if p, err = Decide(q); err != nil || p.Outlook == nil || p.Outlook.Turnaround == 0 || alike(p.Requests(), all.Live) {
		return Plan{}, "", err
	}
	gain := present.turnaround - p.Outlook.Turnaround
	if gain <= max(exchangeBy, exchangeShare*present.turnaround) {
		return Plan{}, "", nil
	}
	return p, fmt.Sprintf("in place of what waits, as the job is expected to be done in %s and not in %s", duration(p.Outlook.Turnaround), duration(present.turnaround)), nil
}

// placesReserved reports whether jobs of others wait in a queue that reserves nodes for more than one job. A request that waits has nodes
// reserved there, which it would lose, and in simulations jobs were not done sooner without them (TestExchangePays).
func (q *Question) placesReserved() bool {
	queue := q.Snap.Queue
	return queue != nil && queue.Depth > 1 && slices.ContainsFunc(queue.Pending, func(j cluster.Queued) bool { return j.Alloc == "" })
}

// alike reports whether requests are the same as those that wait.
func alike(requests []job.AllocRequest, waiting []job.Live) bool {
	return slices.EqualFunc(requests, waiting, func(r job.AllocRequest, l job.Live) bool {
		return r.Nodes == l.Request.Nodes && r.PerNode == l.Request.PerNode && r.Time == l.Request.Time
	})
}

// course is the expected course of a job on the requests that wait, in seconds from now. Turnaround is NaN where it is unknown.
type course struct{ start, turnaround float64 }

// present returns the expected course of the job on its waiting requests.
func (q *Question) present() (course, error) {
	unknown := course{turnaround: math.NaN()}
	l, err := Share(q.Snap, q.Spec)
	if err != nil {
		return unknown, err
	}
	p, _ := q.begin(&l)
	d := decision{adaptor: newAdaptor(q)}
	d.setLoad(p.Reduces)
	if err := d.find(); err != nil || !d.known.ok || d.load.Maps+d.load.Reduces == 0 {
		return unknown, err
	}
	d.findSlots()
	d.findMoves()
	got := course{start: math.Inf(1)}
	var windows []predict.Window
	var queue *offer
	for i := range q.Remaining.Live {
		w, o, ok := d.waits(&q.Remaining.Live[i])
		if !ok {
			return unknown, nil
		}
		windows, queue, got.start = append(windows, w), o, min(got.start, w.Start-o.startUp)
	}
	if queue == nil {
		return unknown, nil
	}
	windows, _ = d.withFollowing(queue, windows)
	runs, _, _ := d.simulate(windows, nil, noLimit)
	got.turnaround = runs.Mean()
	return got, nil
}

// waits returns the window of a request that waits, by its place in the queue of an offer; false where no queue shows it.
func (d *decision) waits(l *job.Live) (w predict.Window, queue *offer, ok bool) {
	for _, o := range d.offers {
		if start, ok := d.startOf(l, o.moves); ok {
			var size offer
			size.taskSlots, size.reduceSlots = d.slotsOf(l.Request.PerNode)
			size.startUp = o.startUp
			return size.window(l.Request.Nodes, start, start+limitSeconds(l.Request.Time)), o, true
		}
	}
	return w, nil, false
}

// startOf returns when a request that waits is expected to begin, in seconds from now: by its place in the queue, or as the batch system
// says if that is sooner, because it believes limits. It returns false where starts are not drawn, or the queue does not show the request.
func (a *adaptor) startOf(l *job.Live, m *moving) (float64, bool) {
	if m == nil {
		return 0, false
	}
	place, ok := m.queue.Place(l.ID)
	if !ok {
		return 0, false
	}
	start := inSeconds(m.draws.Waiting(place).Mean())
	if l.Start > a.q.Now {
		start = min(start, a.seconds(l.Start))
	}
	return start, start >= 0 && !math.IsInf(start, 1)
}
