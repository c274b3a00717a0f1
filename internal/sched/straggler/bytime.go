package straggler

// Where nothing tells how far attempts are, as tasks are over before their progress was measured twice, the time that others took says
// which one is late: three times the longest of them, and some looks more.
const (
	fewestDone  = 5 // attempts that were done, for their times to tell
	longerTimes = 3
	longerLooks = 3
)

// beyond returns what is said of an attempt that has counted more than most had when they were done: counts tell nothing of its end any
// more, so times do. But it may just have more to do, and what it did is not to be lost: it may get a duplicate, and is not aborted
// unless it makes no progress.
func (v *View) beyond(r *Running, g gauge) gauge {
	late := v.byTime(r)
	switch {
	case late == nil:
		return g
	case late.most > 0:
		late.most = surelySlow
	}
	return *late
}

// byTime returns what the durations of attempts that were done say of one that has run for much longer; nil of any other. One whose
// progress stood still for as long hangs. Of another it is expected that it runs for as long again.
func (v *View) byTime(r *Running) *gauge {
	if len(v.Past.Took) < fewestDone {
		return nil
	}
	longest := v.Past.Took[len(v.Past.Took)-1].Seconds()
	enough, age := longerTimes*longest+longerLooks*v.Interval.Seconds(), r.Age(v.Now).Seconds()
	if age < enough {
		return nil
	}
	g := &gauge{fresh: median(v.Past.took())}
	if t := r.Track; t == nil || age-t.Moved.T.Seconds() < enough {
		g.speed = max(g.fresh/age, 0.01)
		g.slow, g.most = g.speed, g.speed
	}
	g.tau, g.left, g.over = g.fresh, age*g.speed, true
	return g
}
