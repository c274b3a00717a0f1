package loads

import (
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
)

// Outliers describes how nodes become slow for some time, independently of each other (paper
// no2-outliers, section 2.2: nodes become abnormal at random, and return to normal). The zero value
// means that nodes never become slow.
type Outliers struct {
	Probability float64       // that a task of the length Task meets a slow spell on its node (paper: 0.005 … 0.01)
	Task        time.Duration // the length of a typical task
	For         time.Duration // mean length of a spell, exponentially distributed
	// Work in a spell takes Least + exponential(Mean − Least) times as long, at most Most times.
	Least, Mean, Most float64
	Hangs             float64 // fraction of spells without any progress
}

// Draw returns the slow spells of one node from time 0 to end. At time 0 nodes are in the stationary
// state.
func (o Outliers) Draw(rng *rand.Rand, end job.Time) (all Spells) {
	if o.Probability <= 0 {
		return nil
	}
	// A task meets a spell with the probability (For + Task)/(For + up), where up is the mean time
	// between spells.
	up := (o.For.Seconds()+o.Task.Seconds())/o.Probability - o.For.Seconds()
	at := job.Time(0)
	if rng.Float64() >= o.For.Seconds()/(o.For.Seconds()+up) {
		at = at.Add(duration(rng.ExpFloat64() * up))
	}
	for at < end {
		s := Spell{From: at, To: at.Add(duration(rng.ExpFloat64() * o.For.Seconds()))}
		factor := min(o.Least+rng.ExpFloat64()*(o.Mean-o.Least), o.Most)
		if s.Speed = 1 / factor; rng.Float64() < o.Hangs {
			s.Speed = 0
		}
		all = append(all, s)
		at = s.To.Add(duration(rng.ExpFloat64() * up))
	}
	return all
}
