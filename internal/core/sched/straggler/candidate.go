package straggler

import (
	"cmp"
	"slices"

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

// Verdicts returns a verdict on each running attempt: the candidates first, those with an action before the others, the highest rank first,
// with the action as far as the job allows it.
func (v *View) Verdicts(of []Candidate) []Verdict {
	for i := range of {
		if c := &of[i]; c.Act == Duplicate && !v.Duplicate || c.Act == Abort && !v.Abort {
			c.Act = Keep
		}
	}
	slices.SortStableFunc(of, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(min(b.Act, 1), min(a.Act, 1)), cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Index, b.Index))
	})
	out := make([]Verdict, 0, len(v.Running))
	acted := make([]bool, len(v.Running))
	for _, c := range of {
		c.Attempt = v.Running[c.Index].Attempt
		acted[c.Index] = true
		out = append(out, c.Verdict)
	}
	for i := range v.Running {
		if !acted[i] {
			out = append(out, Verdict{Attempt: v.Running[i].Attempt})
		}
	}
	return out
}

// longest bounds the reported time to an expected end.
const longest = 1e9 // seconds

// After returns the instant that many seconds from now.
func (v *View) After(s float64) job.Time {
	return v.Now.Add(seconds(s))
}
