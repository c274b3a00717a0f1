package straggler

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Alone reports whether no other attempt of the task runs or was requested, and the attempt itself is no duplicate.
func (r *Running) Alone() bool { return r.Duplicates == 0 && !r.Duplicate }

// Candidate is an attempt that a rule wants to act on, the highest rank first.
type Candidate struct {
	Index int // in View.Running
	Rank  float64
	Verdict
}

// Verdicts returns a verdict on each running attempt: the candidates first, the highest rank first, with the action as far as the
// job allows it.
func (v *View) Verdicts(of []Candidate) []Verdict {
	sortByRank(of)
	out := make([]Verdict, 0, len(v.Running))
	acted := make([]bool, len(v.Running))
	for _, c := range of {
		if c.Act == Duplicate && !v.Duplicate || c.Act == Abort && !v.Abort {
			c.Act = Keep
		}
		c.Attempt = v.Running[c.Index].Attempt
		acted[c.Index] = true
		out = append(out, c.Verdict)
	}
	slices.SortStableFunc(out, func(a, b Verdict) int { return cmp.Compare(b.Act.acts(), a.Act.acts()) })
	for i := range v.Running {
		if !acted[i] {
			out = append(out, Verdict{Attempt: v.Running[i].Attempt})
		}
	}
	return out
}

// acts returns 1 for an action that does something, 0 for Keep.
func (a Action) acts() int {
	if a == Keep {
		return 0
	}
	return 1
}

// sortByRank puts the highest rank first.
func sortByRank(of []Candidate) {
	slices.SortStableFunc(of, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Index, b.Index))
	})
}

// longest bounds the reported time to an expected end.
const longest = 1e9 // seconds

// After returns the instant that many seconds from now.
func (v *View) After(seconds float64) job.Time {
	return v.Now.Add(time.Duration(min(seconds, longest) * float64(time.Second)))
}
