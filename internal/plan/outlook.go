package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/timeline"
)

const (
	// shownSlots is how many slots of the chosen size are shown that a job could use.
	shownSlots = 10
	// shownOut is how many are shown that it could not use.
	shownOut = 4
	// shownSteps is how many steps of the timeline are kept at most.
	shownSteps = 200
)

// outlook returns what was seen of the queue, and how it was chosen.
func (d *decision) outlook() *Outlook {
	at := d.places[0]
	if len(d.chosen) > 0 {
		at = d.first.place
	}
	o := &Outlook{Partition: at.part.Name, Nodes: at.usable, Timeline: at.line.Steps(), Slots: []Candidate{}}
	if len(o.Timeline) > shownSteps {
		o.Timeline = o.Timeline[:shownSteps]
	}
	if len(d.chosen) > 0 && !math.IsInf(d.chosen[0].start, 1) {
		o.Wait = micros(d.chosen[0].start)
	}
	if start := d.begins(); !math.IsInf(start, 1) {
		o.Start = micros(start)
	}
	if len(d.runs.Finish) > 0 && !math.IsInf(d.runs.Mean(), 1) {
		o.Turnaround = micros(d.runs.Mean())
	}
	for _, w := range d.rows(at) {
		o.Slots = append(o.Slots, d.candidate(w))
	}
	return o
}

// rows returns the options that are shown, by their start: of the chosen place the
// chosen one, the best of the others and some that are of no use, and the best of each
// other place.
func (d *decision) rows(at *place) []option {
	d.weighRest(at)
	if len(d.chosen) == 0 {
		return nil
	}
	rows := []option{d.first}
	best := slices.Clone(d.weighed)
	slices.SortStableFunc(best, func(x, y option) int { return d.order(&x, &y) })
	good, out := 0, 0
	others := map[*place]bool{}
	for _, o := range best {
		switch {
		case o.place == d.first.place && o.slot == d.first.slot:
		case o.place != at && o.out == "" && !others[o.place]:
			others[o.place] = true
			rows = append(rows, o)
		case o.place == at && o.out == "" && good < shownSlots:
			good++
			rows = append(rows, o)
		case o.place == at && o.out != "" && out < shownOut:
			out++
			rows = append(rows, o)
		}
	}
	for i, o := range rows {
		if o.beaten {
			rows[i] = d.a.bestOf(offer{place: o.place, slot: o.slot, nodes: o.nodes}, noLimit)
		}
	}
	byStart(rows)
	return rows
}

// order puts the option that is done sooner first.
func (d *decision) order(x, y *option) int {
	switch {
	case x.mean < y.mean:
		return -1
	case x.mean > y.mean:
		return 1
	case !d.a.known.ok && x.out == "" && y.out == "":
		return d.a.sooner(x, y)
	}
	return 0
}

// weighRest weighs slots of the chosen place that were not, as they could not be
// better, until there are enough to be shown.
func (d *decision) weighRest(at *place) {
	if !d.a.known.ok || len(d.a.live) > 0 {
		return
	}
	done := map[timeline.Slot]bool{}
	for _, o := range d.weighed {
		if o.place == at {
			done[o.slot] = true
		}
	}
	good, _ := d.a.offers([]*place{at})
	for _, o := range good {
		if len(done) >= shownSlots || d.a.spent > weighing {
			return
		}
		if !done[o.slot] {
			done[o.slot] = true
			d.weighed = append(d.weighed, d.a.bestOf(o, noLimit))
		}
	}
}

// candidate returns how an option is shown.
func (d *decision) candidate(o option) Candidate {
	c := Candidate{Slot: o.slot, Take: o.nodes, PerNode: o.place.perNode, Wait: micros(o.start), Risk: o.risk, Why: o.out}
	if o.time != timeline.Unbounded {
		c.Time = o.time
	}
	if !math.IsInf(o.mean, 1) {
		c.Run, c.Total = micros(o.mean-o.start), micros(o.mean)
	}
	if c.Chosen = o.place == d.first.place && o.slot == d.first.slot; c.Chosen {
		c.Why = d.whyChosen()
	} else if c.Why == "" {
		c.Why = d.whyNot(o)
	}
	return c
}

func (d *decision) whyChosen() string {
	switch {
	case math.IsInf(d.first.start, 1):
		return "no free slot is in sight"
	case d.scout > 0:
		return "the earliest start, for a scout"
	case !d.a.known.ok:
		return d.a.whyBlind()
	case len(d.a.live) > 0:
		return "shortens the expected turnaround most"
	default:
		return "the least expected turnaround"
	}
}

// whyNot says why an option lost.
func (d *decision) whyNot(o option) string {
	if !d.a.known.ok {
		return d.a.whyNotBlind(&o, &d.first)
	}
	why := later(o, d.first)
	switch {
	case o.late != "":
		why += "; " + o.late
	case o.slot.Nodes > o.nodes && o.nodes == o.place.maxNodes:
		why += fmt.Sprintf(" (at most %s a job by %s)", count(o.nodes, "node"), o.place.nodesBy)
	case o.risk > wanted:
		why += fmt.Sprintf(": its %s do not do", duration(o.time.Seconds()))
	}
	return why
}

// wallText returns a wall time as words.
func wallText(t time.Duration) string {
	if t == timeline.Unbounded {
		return "without a time limit"
	}
	return "for " + duration(t.Seconds())
}
