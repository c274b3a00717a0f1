package enginetest

import (
	"berth/internal/core/event"
	"berth/internal/core/job"
)

// limits is how much all jobs of a world together may use of what they share.
var limits = map[string]int{"x": 3, "y": 1}

// uses returns what the tasks of the n-th job use of that.
func uses(n int) job.Uses {
	return map[int]job.Uses{1: "x=1", 3: "x=2,y=1", 4: "x=3"}[n%6]
}

// checkUses checks that no attempt starts for which too little is free of what it uses.
func (l *Ledger) checkUses(r event.AttemptStarted) {
	for name := range l.needsOf(r.Attempt).Uses.All() {
		sum := 0
		for id := range l.live {
			sum += l.needsOf(id).Uses.Of(name)
		}
		if sum > limits[name] && !l.torn {
			l.fail("%v starts, and %d of %s are in use, more than %d", r.Attempt, sum, name, limits[name])
		}
		l.Scarce += sum / limits[name]
	}
}
