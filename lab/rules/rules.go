// Package rules has the rules on slow tasks of other systems, with which that of berth is compared: of Hadoop, LATE, Dryad
// and Mantri. No job needs them: only berth-lab offers them to a coordinator. The package is as pure as straggler.
package rules

import (
	"time"

	"berth/internal/core/sched/straggler"
)

// Others returns the rules of other systems.
func Others() []straggler.Rule { return []straggler.Rule{Hadoop{}, LATE{}, P75{}, Mantri{}} }

// All returns all rules in the order in which they are compared, that of berth last.
func All() []straggler.Rule {
	all := append([]straggler.Rule{straggler.Nothing{}}, Others()...)
	return append(all, straggler.Paper{}, straggler.Paper{Aborting: true}, straggler.Berth{})
}

// Names returns the names of rules.
func Names(all []straggler.Rule) (names []string) {
	for _, r := range all {
		names = append(names, r.Name())
	}
	return names
}

// earliest is the age from which Hadoop's rule and LATE consider an attempt (OSDI 2008, section 2.2).
const earliest = time.Minute

// score returns Hadoop's progress score of an attempt, 0…1: the fraction of its input that was read. If that is
// unknown, it is the attempt's count relative to the mean count of attempts that were done; if none was, to the highest count that runs.
// The papers only have the first; the others let their rules handle programs that compute.
func score(v *straggler.View) func(r *straggler.Running) float64 {
	whole, of := 0.0, 0
	for _, refs := range [][]straggler.Reference{v.Past.Own, v.Past.Earlier} {
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
			whole = max(whole, count(&v.Running[i]))
		}
	}
	return func(r *straggler.Running) float64 {
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

// count returns the progress of an attempt so far.
func count(r *straggler.Running) float64 {
	if r.Track == nil {
		return 0
	}
	return r.Track.Now.N
}

// duplicates returns the number of duplicates that run or were requested.
func duplicates(v *straggler.View) (n int) {
	for i := range v.Running {
		if r := &v.Running[i]; r.Duplicates > 0 && !r.Duplicate {
			n += r.Duplicates
		}
	}
	return n
}

// room returns the number of attempts that could start now.
func room(v *straggler.View) (places int) {
	for _, r := range v.FreeSlots {
		places += r.Count
	}
	return places
}
