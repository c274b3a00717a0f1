package straggler

import (
	"cmp"
	"slices"
	"time"
)

// earliest is the age from which Hadoop's rule and LATE consider an attempt (OSDI 2008, section 2.2).
const earliest = time.Minute

// score returns Hadoop's progress score of an attempt, 0…1: the fraction of its input that was read. If that is
// unknown, it is the attempt's count relative to the mean count of attempts that were done; if none was, to the highest count that runs.
// The papers only have the first; the others let their rules handle programs that compute.
func (v *View) score() func(r *Running) float64 {
	whole, of := 0.0, 0
	for _, refs := range [][]Reference{v.Past.Own, v.Past.Earlier} {
		for i := range refs {
			whole += refs[i].End().N
			of++
		}
		if of > 0 {
			break
		}
	}
	if of > 0 {
		whole /= float64(of)
	} else {
		for i := range v.Running {
			whole = max(whole, v.Running[i].count())
		}
	}
	return func(r *Running) float64 {
		switch {
		case r.Track == nil:
			return 0
		case r.Track.Fraction > 0:
			return r.Track.Fraction
		case whole == 0:
			return 0
		}
		return min(r.Track.Now.N/whole, 1)
	}
}

// count returns N, the progress of an attempt so far.
func (r *Running) count() float64 {
	if r.Track == nil {
		return 0
	}
	return r.Track.Now.N
}

// alone reports whether no other attempt of the task runs or was requested, and the attempt itself is no duplicate.
func (r *Running) alone() bool { return r.Duplicates == 0 && !r.Duplicate }

// duplicates returns the number of duplicates that run or were requested.
func (v *View) duplicates() (n int) {
	for i := range v.Running {
		if r := &v.Running[i]; r.Duplicates > 0 && !r.Duplicate {
			n += r.Duplicates
		}
	}
	return n
}

// candidate is an attempt that a rule wants to act on, the highest rank first.
type candidate struct {
	index int // in View.Running
	rank  float64
	Verdict
}

// verdicts returns a verdict on each running attempt: the candidates first, the highest rank first, with the action as far as the
// job allows it.
func (v *View) verdicts(of []candidate) []Verdict {
	sortByRank(of)
	out := make([]Verdict, 0, len(v.Running))
	acted := make([]bool, len(v.Running))
	for _, c := range of {
		if c.Act == Duplicate && !v.Duplicate || c.Act == Abort && !v.Abort {
			c.Act = Keep
		}
		c.Attempt = v.Running[c.index].Attempt
		acted[c.index] = true
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

// room returns the number of attempts that could start now.
func (v *View) room() (places int) {
	for _, r := range v.FreeSlots {
		places += r.Count
	}
	return places
}

// sortByRank puts the highest rank first.
func sortByRank(of []candidate) {
	slices.SortStableFunc(of, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.index, b.index))
	})
}
