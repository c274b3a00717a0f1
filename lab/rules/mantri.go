package rules

import (
	"fmt"

	"berth/internal/core/sched/straggler"
)

// Mantri is the rule of G. Ananthanarayanan et al., "Reining in the Outliers in Map-Reduce Clusters using Mantri"
// (OSDI 2010), section 5.2. t_rem is the remaining time of an attempt by its score, and t_new the time of a new one, distributed
// like the durations of attempts that were done. While tasks wait: kill and restart if t_rem > E(t_new) + Δ, at most
// three times, and duplicate if that probably saves work: P(t_rem > t_new·(c+1)/c) > δ for c running copies. Once all tasks have
// started: duplicate if E(t_rem − t_new) > ρΔ. Δ is the time between two reports.
type Mantri struct{}

// The constants of section 5.2 of Mantri.
const (
	mantriDelta    = 0.25 // δ
	mantriRho      = 3    // ρ
	mantriRestarts = 3    // γ
	mantriCopies   = 3    // α
)

// Name returns "mantri".
func (Mantri) Name() string { return "mantri" }

// Assess restarts or duplicates attempts with more remaining time than a new one takes.
func (Mantri) Assess(v *straggler.View) []straggler.Verdict {
	if len(v.Past.Took) == 0 {
		return v.Verdicts(nil)
	}
	score, mean, delta := score(v), v.Past.Mean().Seconds(), v.Interval.Seconds()
	var restart, copies []straggler.Candidate
	for i := range v.Running {
		r := &v.Running[i]
		s := score(r)
		if r.Duplicate || s <= 0 && r.Age(v.Now) < earliest {
			continue
		}
		left := r.Age(v.Now).Seconds() * (1 - s) / max(s, 1e-3)
		c := 1 + r.Duplicates
		d := straggler.Verdict{Act: straggler.Duplicate, State: straggler.Slow, End: v.After(left), Fresh: v.After(mean), Why: fmt.Sprintf("it needs about %.0f s more, a new attempt %.0f s", left, mean)}
		switch {
		case v.Ready > 0 && c == 1 && left > mean+delta && r.Attempt.N <= mantriRestarts:
			d.Act = straggler.Abort
			restart = append(restart, straggler.Candidate{Index: i, Rank: left, Verdict: d})
		case c >= mantriCopies:
		case v.Ready > 0 && within(v.Past, left*float64(c)/float64(c+1)) > mantriDelta,
			v.Ready == 0 && left-mean > mantriRho*delta:
			copies = append(copies, straggler.Candidate{Index: i, Rank: left, Verdict: d})
		}
	}
	return v.Verdicts(append(restart, first(copies, room(v))...))
}

// within returns the share of attempts that were done in less than that many seconds.
func within(p *straggler.Past, seconds float64) float64 {
	n := 0
	for n < len(p.Took) && p.Took[n] < seconds {
		n++
	}
	return float64(n) / float64(max(len(p.Took), 1))
}
