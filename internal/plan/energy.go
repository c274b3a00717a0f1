package plan

import (
	"fmt"
	"math"
	"time"

	"berth/internal/job"
)

// What energy decides: the objective is turnaround + λ·energy (models.md, Energy), λ being --energy-weight. Of the energy
// only the idle power of the nodes counts, as the tasks take the same beyond it on whichever nodes they run.

// idleCost returns what it costs to hold a node for a second, in seconds of turnaround: λ·P_idle. 0: energy decides nothing.
func (a *adaptor) idleCost() float64 { return a.req.EnergyWeight * a.idlePower() }

// idlePower returns the idle power of a node in watts: as told of the features that are asked for, else of all nodes. Which
// nodes the job will get is not known; where power was told only by their names, it is that of the first.
func (a *adaptor) idlePower() float64 {
	told := a.req.NodePower
	if p := job.PowerOf(told, "", a.req.Constraint); p.Max > 0 || len(told) == 0 {
		return p.Idle
	}
	return told[0].Idle
}

// cost returns what is to be least: the turnaround of a candidate and what its energy is worth.
func (a *adaptor) cost(c *Candidate) float64 {
	return c.Total + a.idleCost()*float64(c.Take)*(c.Total-c.Wait)
}

// thrifty returns the candidate without those of its nodes whose energy costs more than the time that they save.
func (a *adaptor) thrifty(c Candidate) Candidate {
	if a.idleCost() == 0 {
		return c
	}
	best := c
	for n := c.Take - max(1, c.Take/4); n >= max(1, c.offer.minNodes) && a.spent < weighing; n -= max(1, n/4) {
		got, ok := a.with(c, n, nil, noLimit)
		if ok && got.rejected == "" && got.Risk <= max(c.Risk, riskBy) && a.cost(&got) < a.cost(&best) {
			best = got
		}
	}
	if left := c.Take - best.Take; left > 0 {
		idle := a.idlePower() * (float64(c.Take)*(c.Total-c.Wait) - float64(best.Take)*(best.Total-best.Wait))
		a.note(fmt.Sprintf("%d of %s are left off by --energy-weight: they would save %s and take %.3g kJ more",
			left, count(c.Take, "node"), duration(best.Total-c.Total), idle/1000))
	}
	return best
}

// pays reports whether a further allocation saves time that is worth more than its energy.
func (d *decision) pays(c *Candidate) bool {
	held := 0.0
	for _, other := range d.chosen {
		held += float64(other.Take)
	}
	saved := (d.runs.Mean() - c.Total) * (1 + d.idleCost()*held)
	return saved >= d.idleCost()*float64(c.Take)*(c.Total-c.Wait)
}

// patience returns how long the nodes of a candidate wait for work at most, once they have none: until they have cost
// as much as to ask for them anew, which is the time that workers take to start. That costs at most twice as much as if it
// had been known when work comes, as with renting or buying (Karlin et al., Algorithmica 3, 1988).
func (a *adaptor) patience(c *Candidate) time.Duration {
	each := a.idleCost() * float64(max(1, c.Take))
	if each == 0 {
		return math.MaxInt64
	}
	return max(time.Second, asDuration(min(c.offer.startUp/each, never)))
}
