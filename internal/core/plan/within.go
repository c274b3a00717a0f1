package plan

import (
	"fmt"
	"math"

	"berth/internal/core/job"
)

// within returns how long the job may wait for its first allocation, in seconds (job.Request.StartWithin); +Inf: as long as it
// takes. A job that comes after others waits for them first, so the present queue says nothing of its start.
func (a *adaptor) within() float64 {
	if len(a.q.Spec.After) > 0 {
		return math.Inf(1)
	}
	return limitSeconds(a.req.StartWithin)
}

// medianWait returns the predicted wait of a candidate, in seconds: the median over the draws, or until its free slot begins.
func (a *adaptor) medianWait(c *Candidate) float64 {
	if m := c.offer.moves; m != nil {
		return inSeconds(m.waitsByDraw(c.Take, c.wall).Median())
	}
	return c.Wait
}

// startsTooLate is the reason why a candidate is infeasible that begins later than the user wants to wait.
const startsTooLate = "starts later than --start-within allows"

// checkStart rejects a candidate for the first allocation that is predicted to begin later than the user wants to wait.
func (a *adaptor) checkStart(c *Candidate) {
	if most := a.within(); c.rejected == "" && !math.IsInf(most, 1) && a.medianWait(c) > most {
		c.rejected = startsTooLate
	}
}

// startsLate returns the error of a job of which no candidate begins within the time that it may wait.
func (d *decision) startsLate() error {
	least, soonest := math.Inf(1), Candidate{}
	for i := range d.evaluated {
		if c := &d.evaluated[i]; c.rejected == startsTooLate && d.medianWait(c) < least {
			least, soonest = d.medianWait(c), *c
		}
	}
	err := &job.Error{Class: job.User, Code: job.CodeNotStarted, Where: "--start-within",
		What: fmt.Sprintf("no start within %s is predicted, so nothing is run", duration(d.within())), Do: "raise it, or leave it out to wait for as long as it takes"}
	if math.IsInf(least, 1) {
		err.What += ": the queue shows no free slot that is large and long enough"
		return err
	}
	err.What += fmt.Sprintf(": the earliest is in %s, with %s", duration(least), job.Count(soonest.Take, "node"))
	if soonest.wall < horizon {
		err.What += " for " + duration(soonest.wall)
	}
	if d.req.MinNodes > 1 {
		err.Do += "; fewer nodes (--nodes) may start sooner"
	}
	if d.req.WallTime != job.WallAuto {
		err.Do += "; less time (--time, --wall-time auto) may start sooner"
	}
	return err
}
