package schedulers

import (
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// Terms are the weights of the terms of the utility of a start in the scheduler phases, and of the order of attempts that wait for a grant.
type Terms struct {
	Fairness     float64 // how much a start reduces the deficit of its job
	Order        float64 // the shortest remaining work first
	Align        float64 // how well the demand matches what the node has free
	Critical     float64 // near the end, tasks that others depend on start in time
	Speed, Chain float64 // phases that compute start where cores are fast: any phase, and those of the last chains
	Urgency      float64 // the longest waiting attempt goes on first; 0: the first in line
}

// UsualTerms are the weights that berth's scheduler has.
var UsualTerms = Terms{Fairness: 1, Order: 1, Align: 1, Critical: 5, Speed: 1, Chain: 10, Urgency: 1}

// PhasesBy returns the scheduler phases with other weights.
func PhasesBy(t Terms, alpha float64) *sched.Scheduler {
	s := *sched.Phases
	s.Alpha, s.Rules = alpha, func(base sched.CoreRules) sched.Rules { return phasesBy{sched.Phases.Rules(base), t, alpha} }
	return &s
}

type phasesBy struct {
	sched.Rules
	terms Terms
	alpha float64
}

func (r phasesBy) Onward(p *sched.Pool, n *sched.Node) *sched.Candidate {
	if r.terms.Urgency == 0 {
		return sched.CoreRules{}.Onward(p, n)
	}
	return r.Rules.Onward(p, n)
}

func (r phasesBy) Worth(p *sched.Pool, n *sched.Node, c *sched.Candidate, before int) float64 {
	last := sched.Critical(p, c.Job)
	perf := r.terms.Order/float64(1+before) + r.terms.Align*sched.Alignment(n, c.Demand) + r.terms.Critical*last
	if slow := 1 - p.Speeds.Of(n.Kind); slow > 0 {
		perf = max(0, perf-slow*min(1, float64(c.Demand.CPU)/job.Milli)*(r.terms.Speed+r.terms.Chain*last))
	}
	return 1e-9 + r.terms.Fairness*sched.FairGain(p, c.Job, c.Demand) + r.alpha*perf
}
