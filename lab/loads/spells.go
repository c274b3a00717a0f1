package loads

import (
	"berth/internal/core/job"
)

// Spell is a time in which a node is slow.
type Spell struct {
	From, To job.Time
	Speed    float64 // of its cores, as a fraction of their normal speed; 0: they hang
}

// Spells are the spells of one node, ordered by time.
type Spells []Spell

// Work returns the seconds of work done between two instants, at full speed outside of the spells.
func (s Spells) Work(from, to job.Time) float64 {
	done := to.Sub(from).Seconds()
	for _, p := range s {
		if slow := min(p.To, to).Sub(max(p.From, from)); slow > 0 {
			done -= slow.Seconds() * (1 - p.Speed)
		}
	}
	return done
}

// Until returns when the given seconds of work, begun at from, are done.
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
