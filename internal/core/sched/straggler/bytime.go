package straggler

// If no progress is measured, because tasks end before their progress was measured twice, the durations of other attempts decide
// which one is late: after three times the longest of them, and some intervals more.
const (
	fewestDone  = 5 // attempts that must be done before their durations are used
	longerTimes = 3
	longerLooks = 3
)

// beyond returns the estimate of an attempt whose count exceeds that of most attempts when they were done. Counts do not predict its end any
// more, so durations do. But the attempt may just have more to do, and its work should not be lost: it may get a duplicate, and is aborted
// only if it makes no progress.
func (v *View) beyond(r *Running, g estimate) estimate {
	late := v.byTime(r)
	switch {
	case late == nil:
		return g
	case late.most > 0:
		late.most = surelySlow
	}
	return *late
}

// byTime returns the estimate of an attempt that has run for much longer than those that were done; nil for any other. If its
// progress stood still for as long it hangs. Otherwise it is expected to run for as long again.
func (v *View) byTime(r *Running) *estimate {
	if len(v.Past.Took) < fewestDone {
		return nil
	}
	longest := v.Past.Took[len(v.Past.Took)-1]
	enough, age := longerTimes*longest+longerLooks*v.Interval.Seconds(), r.Age(v.Now).Seconds()
	if age < enough {
		return nil
	}
	g := &estimate{fresh: median(v.Past.Took)}
	if t := r.Track; t == nil || age-t.Moved.T.Seconds() < enough {
		g.speed = max(g.fresh/age, 0.01)
		g.slow, g.most = g.speed, g.speed
	}
	g.tau, g.left, g.rest, g.over = g.fresh, age*g.speed, age*g.speed, true
	return g
}
