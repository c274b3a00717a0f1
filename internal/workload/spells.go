package workload

import (
	"math/rand/v2"
	"time"

	"berth/internal/job"
)

// Outliers says how nodes become slow for a while, each by itself (paper no2-outliers, section 2.2: nodes become abnormal at random, and
// return to normal). The zero value is nodes that never do.
type Outliers struct {
	Probability float64       // that a task of the length Task meets a slow spell on its node (paper: 0.005 … 0.01)
	Task        time.Duration // the length of a typical task
	For         time.Duration // mean length of a spell, exponentially distributed
	// What runs in a spell takes Least + exponential(Mean − Least) times as long, and no more than Most times.
	Least, Mean, Most float64
	Hangs             float64 // share of spells in which it makes no progress at all
}

// Spell is a time in which a node is slow.
type Spell struct {
	From, To job.Time
	Speed    float64 // of its cores, as a share of their speed; 0: they hang
}

// Spells are those of one node, by time.
type Spells []Spell

// Draw returns the slow spells of one node from time 0 until the end. At time 0 nodes are what they are on average.
func (o Outliers) Draw(rng *rand.Rand, end job.Time) (all Spells) {
	if o.Probability <= 0 {
		return nil
	}
	// A task meets a spell with probability (For + Task)/(For + up), for times between spells with the mean up.
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

// Work returns the seconds of work that are done between two instants, at full speed outside of the spells.
func (s Spells) Work(from, to job.Time) float64 {
	done := to.Sub(from).Seconds()
	for _, p := range s {
		if slow := min(p.To, to).Sub(max(p.From, from)); slow > 0 {
			done -= slow.Seconds() * (1 - p.Speed)
		}
	}
	return done
}

// Until returns when so many seconds of work are done that begin at an instant.
func (s Spells) Until(from job.Time, work float64) job.Time {
	for _, p := range s {
		if p.To <= from {
			continue
		}
		if begin := max(p.From, from); begin.Sub(from).Seconds() < work {
			work -= begin.Sub(from).Seconds()
			if in := p.To.Sub(begin).Seconds() * p.Speed; in >= work {
				return begin.Add(duration(work / p.Speed))
			} else if work -= in; work > 0 {
				from = p.To
				continue
			}
		}
		break
	}
	return from.Add(duration(work))
}
