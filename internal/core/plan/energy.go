package plan

import (
	"fmt"
	"math"
	"time"

	"berth/internal/core/job"
)

// With --energy-weight λ a plan minimizes turnaround + λ·energy (models.md, "Energy"). Only the idle power of the nodes
// counts as energy: what the tasks use beyond it is the same on all nodes.

// idleCost returns what it costs to hold a node for a second, in seconds of turnaround: λ·P_idle. It is 0 where
// energy has no weight.
func (a *adaptor) idleCost() float64 { return a.req.EnergyWeight * a.idlePower() }

// idlePower returns the idle power of a node in watts: the one given for the requested features, else the one given
// for all nodes. Which nodes the job will get is unknown; where powers are given by node names only, it is the first
// of them.
func (a *adaptor) idlePower() float64 {
	given := a.req.NodePower
	if p := job.PowerOf(given, "", a.req.Constraint); p.Max > 0 || len(given) == 0 {
		return p.Idle
	}
	return given[0].Idle
}

// cost returns the objective: the turnaround of a candidate plus its energy in seconds of turnaround.
func (a *adaptor) cost(c *Candidate) float64 {
	return c.Total + a.idleCost()*float64(c.Take)*(c.Total-c.Wait)
}

// saveEnergy returns the candidate without the nodes whose energy costs more than the time that they save.
func (a *adaptor) saveEnergy(c Candidate) Candidate {
	if a.idleCost() == 0 {
		return c
	}
	best := c
	for n := c.Take - max(1, c.Take/4); n >= max(1, c.offer.minNodes) && a.spent < maxPlaced; n -= max(1, n/4) {
		got, ok := a.withNodes(c, c.offer.filled(n), nil, noLimit)
		if ok && a.asGood(&got, &c, noLimit) && a.cost(&got) < a.cost(&best) {
			best = got
		}
	}
	if left := c.Take - best.Take; left > 0 {
		idle := a.idlePower() * (float64(c.Take)*(c.Total-c.Wait) - float64(best.Take)*(best.Total-best.Wait))
		a.addNote(fmt.Sprintf("--energy-weight: %d of %s are not requested, because they would save %s and use %.3g kJ more",
			left, job.Count(c.Take, "node"), duration(best.Total-c.Total), idle/1000))
	}
	return best
}

// worthEnergy reports whether a further allocation saves time that is worth more than its energy.
func (d *decision) worthEnergy(c *Candidate) bool {
	held := 0.0
	for _, other := range d.chosen {
		held += float64(other.Take)
	}
	saved := (d.runs.Mean() - c.Total) * (1 + d.idleCost()*held)
	return saved >= d.idleCost()*float64(c.Take)*(c.Total-c.Wait)
}

// idleLimit returns how long the nodes of a candidate may be idle before they are given back: until they have cost as
// much as a new request, which costs the start-up time of its workers. That costs at most twice as much as the best
// choice with knowledge of the next work, as in the ski-rental problem (Karlin et al., Algorithmica 3, 1988).
func (a *adaptor) idleLimit(c *Candidate) time.Duration {
	each := a.idleCost() * float64(max(1, c.Take))
	if each == 0 {
		return math.MaxInt64
	}
	return max(time.Second, asDuration(min(c.offer.startUp/each, horizon)))
}
