package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

const (
	// shownSlots is how many feasible slots of the chosen offer are shown.
	shownSlots = 10
	// shownOut is how many infeasible slots are shown.
	shownOut = 4
	// shownSteps is the largest number of steps of the timeline that a plan keeps.
	shownSteps = 200
)

// outlook returns the state of the queue and the candidates that are shown, each with the reason why it was chosen or
// not.
func (d *decision) outlook() *Outlook {
	at := d.offers[0]
	if len(d.chosen) > 0 {
		at = d.first.offer
	}
	o := &Outlook{Partition: at.part.Name, Nodes: at.usable, Timeline: at.line.Steps(), Slots: []Candidate{}, LeftOut: d.leftOut}
	if len(o.Timeline) > shownSteps {
		o.Timeline = o.Timeline[:shownSteps]
	}
	if len(d.chosen) > 0 && !math.IsInf(d.chosen[0].Wait, 1) {
		o.Wait = micros(d.chosen[0].Wait)
	}
	if start := d.begins(); !math.IsInf(start, 1) {
		o.Start = micros(start)
	}
	if len(d.runs.Finish) > 0 && !math.IsInf(d.runs.Mean(), 1) {
		o.Turnaround = micros(d.runs.Mean())
	}
	for _, c := range d.rows(at) {
		why := d.why(&c)
		if c.offer.part != at.part {
			why = "in partition " + c.offer.part.Name + ": " + why
		}
		o.Slots = append(o.Slots, c.reported(c.sameSlot(&d.first), why))
	}
	return o
}

// rows returns the candidates that are shown, in the order of their start: of the chosen offer the chosen candidate,
// the best others and some that were rejected; of each other offer the best.
func (d *decision) rows(at *offer) []Candidate {
	d.evaluateRest(at)
	if len(d.chosen) == 0 {
		return nil
	}
	rows := []Candidate{d.first}
	best := slices.Clone(d.evaluated)
	slices.SortStableFunc(best, func(x, y Candidate) int { return d.order(&x, &y) })
	feasible, out := 0, 0
	others := map[*offer]bool{}
	for _, c := range best {
		switch {
		case c.sameSlot(&d.first):
		case c.offer != at && c.rejected == "" && !others[c.offer]:
			others[c.offer] = true
			rows = append(rows, c)
		case c.offer == at && c.rejected == "" && feasible < shownSlots:
			feasible++
			rows = append(rows, c)
		case c.offer == at && c.rejected != "" && out < shownOut:
			out++
			rows = append(rows, c)
		}
	}
	for i, c := range rows {
		if c.beaten {
			rows[i] = d.bestOf(c, noLimit)
		}
	}
	slices.SortStableFunc(rows, func(x, y Candidate) int {
		return cmp.Or(cmp.Compare(x.Wait, y.Wait), cmp.Compare(x.Take, y.Take))
	})
	return rows
}

// order compares two candidates: the one that ends sooner goes first.
func (d *decision) order(x, y *Candidate) int {
	ends := cmp.Compare(x.Total, y.Total)
	if ends == 0 && !d.known.ok && x.rejected == "" && y.rejected == "" {
		return d.sooner(x, y)
	}
	return ends
}

// evaluateRest evaluates further slots of the chosen offer, which could not be better than the chosen one, until there
// are enough to be shown.
func (d *decision) evaluateRest(at *offer) {
	if !d.known.ok || len(d.live) > 0 {
		return
	}
	done := map[timeline.Slot]bool{}
	for _, c := range d.evaluated {
		if c.offer == at {
			done[c.Slot] = true
		}
	}
	feasible, _ := d.candidates([]*offer{at})
	for _, c := range feasible {
		if len(done) >= shownSlots || d.spent > maxPlaced {
			return
		}
		if !done[c.Slot] {
			done[c.Slot] = true
			d.evaluated = append(d.evaluated, d.bestOf(c, noLimit))
		}
	}
}

// why returns the reason why a candidate was chosen, rejected, or worse than the chosen one.
func (d *decision) why(c *Candidate) string {
	switch {
	case c.sameSlot(&d.first):
		return d.whyChosen()
	case c.rejected != "":
		return c.rejected
	default:
		return d.whyNot(c)
	}
}

func (d *decision) whyChosen() string {
	switch {
	case math.IsInf(d.first.Wait, 1):
		return "the queue shows no free slot for it"
	case d.scout > 0:
		return "the earliest start, for a scout"
	case !d.known.ok:
		return d.whyBlind()
	case len(d.live) > 0:
		return "shortens the expected turnaround most"
	case d.meetsDeadline(&d.first):
		return "the least cost, in nodes and time, of those that meet the deadline"
	case d.idleCost() > 0:
		return "the least expected turnaround and energy together"
	default:
		return "the least expected turnaround"
	}
}

// whyNot returns the reason why a feasible candidate was not chosen.
func (d *decision) whyNot(c *Candidate) string {
	if !d.known.ok {
		return d.whyNotBlind(c, &d.first)
	}
	why := delayInWords(c, &d.first)
	if d.meetsDeadline(&d.first) && d.meetsDeadline(c) {
		why = fmt.Sprintf("meets the deadline, too, for %s more core-seconds", job.FormatCount(int(max(0, coreSecondsTaken(c)-coreSecondsTaken(&d.first)))))
	}
	if d.idleCost() > 0 && c.Total < d.first.Total {
		why = fmt.Sprintf("ends %s sooner, but its energy costs more than that is worth", duration(d.first.Total-c.Total))
	}
	if d.req.Anywhere && c.offer.part.Preempted != "" {
		why += "; " + c.offer.part.Preempted
	}
	switch {
	case c.late != "":
		why += "; " + c.late
	case c.Nodes > c.Take && c.Take == c.offer.maxNodes:
		why += fmt.Sprintf(" (at most %s a job by %s)", job.Count(c.Take, "node"), c.offer.nodesBy)
	case c.Risk > overrunLimit:
		why += "; " + d.whyTooShort(c)
	}
	return why
}

// whyTooShort says that most runs overrun the candidate's wall time and, where no other allocation helps, how much most
// of them need on its nodes.
func (d *decision) whyTooShort(c *Candidate) string {
	why := duration(c.wall) + " is too short"
	if len(d.live) > 0 || len(d.chosen) > 1 {
		return why
	}
	return why + ": about " + duration(d.runsAlone(c.offer, c.Take).Quantile(1-riskBy)) + " is needed"
}

// wallText returns a wall time in words.
func wallText(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "without a time limit"
	}
	return "for " + duration(seconds)
}
