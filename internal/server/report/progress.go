package report

import (
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// almost is what is told of an attempt that has done as much as others had when they ended, and runs on.
const almost = 0.99

// total is what attempts had counted in the end.
type total struct {
	sum float64
	n   int
}

func (t total) mean() float64 { return t.sum / float64(max(t.n, 1)) }

// measured returns how far an attempt is, 0…1, by what was measured of it: the part of its input that it has read, or what it has
// counted against what others had in the end.
func (g *group) measured(a *attempt) (part float64, known bool) {
	switch t := g.totals[a.whole.Source]; {
	case a.whole.Fraction >= 0:
		return a.whole.Fraction, true
	case a.whole.Source != job.ProgressNone && t.n > 0:
		return min(a.whole.N/t.mean(), almost), true
	default:
		return 0, false
	}
}

// progress returns how far a task's attempt is, 0…1, once anything is measured of it.
func (g *group) progress(a *attempt, now job.Time) (part float64, known bool) {
	if part, known = g.measured(a); known {
		return part, true
	}
	if end, known := g.end(a, now); known && end > a.started && a.whole.Source != job.ProgressNone {
		return min(float64(now.Sub(a.started))/float64(end.Sub(a.started)), almost), true
	}
	return 0, false
}

// least is the part of a task that it must have done before its end is told from that.
const least = 0.02

// end returns when an attempt is expected to end: as who compares it with others says, by its own progress, or by how long tasks
// took that are done.
func (g *group) end(a *attempt, now job.Time) (at job.Time, known bool) {
	if a.ends != 0 {
		return max(a.ends, now), true
	}
	age := now.Sub(a.started)
	if part, known := g.measured(a); known && part >= least {
		return max(a.started.Add(time.Duration(float64(age)/part)), now), true
	}
	mean := 0.0
	for i := range g.phases {
		mean += g.phases[i].Time.Mean()
	}
	if at = a.started.Add(job.Seconds(mean)); mean > 0 && at > now {
		return at, true
	}
	return 0, false
}

// ApplyEnd notes when a running attempt is expected to end.
func (j *Job) ApplyEnd(of job.Attempt, at job.Time) {
	if a := j.running(of); a != nil {
		a.ends = at
	}
}

// countDuplicate takes in how an attempt ended.
func (s *sums) countDuplicate(r *ending) {
	switch {
	case r.Outcome == event.Done && r.duplicate:
		s.Won++
	case r.Outcome != event.Done && r.task.pos == posDone:
		for _, stat := range r.Stats {
			s.CostS += stat.CPU.Seconds()
		}
	}
}

func (s *sums) stragglers() Stragglers {
	v := s.Stragglers
	v.CostS, v.Ended, v.EndedTotal = round(v.CostS), slices.Clone(s.ended.last), s.ended.total
	return v
}

// sources returns how many tasks that are done had their progress measured by which source.
func (s *sums) sources() map[string]int {
	var by map[string]int
	for source, n := range s.measured {
		if n > 0 {
			if by == nil {
				by = map[string]int{}
			}
			by[job.ProgressSource(source).String()] = n
		}
	}
	return by
}
