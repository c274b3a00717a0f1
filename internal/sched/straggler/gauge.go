package straggler

import "math"

// gauge is what a ruler says of one attempt.
type gauge struct {
	reading
	speed float64 // that it is expected to have, in virtual seconds a second
	slow  float64 // that it had in the window in which it was slowest, or lately, if that is less
	most  float64 // that it had at most in that window, as counts are read with slack; 0: it hangs
	fresh float64 // seconds that a fresh attempt of its task takes
}

// windows are the stretches of time, up to now, over which speeds are measured, in parts of what a task takes.
var windows = [...]float64{1. / 8, 1. / 4, 1. / 2}

// predicting is the one of them that the expected end goes by, together with the mean speed.
const predicting = 1. / 4

// window is the shortest time that tells something of a speed, in seconds: 8 where looks are 3 s apart. Of younger attempts nothing is said.
func (v *View) window() float64 { return v.Interval.Seconds() * 8 / 3 }

// surelySlow is the speed below which an attempt is slow, whatever its counts may mean.
const surelySlow = 0.9

// gauge measures an attempt. Its speed is at most that of the slowest of the windows, each read as well as can be: at its end as
// late, and at its begin as early, as the count may mean.
func (l *ruler) gauge(r *Running) gauge {
	t := r.Track
	g := gauge{reading: l.read(t.Now.N), fresh: l.took}
	age := t.Now.T.Seconds()
	mean := g.tau / max(t.Moved.T.Seconds(), 1e-9)
	pace := min(max(mean, 0.25), 1)
	stalled := age - t.Moved.T.Seconds()
	at := min(max(g.flat, g.tau), g.tau+stalled*pace) // a stretch without counts passes, too
	g.left = max(g.left-(at-g.tau), 0)
	g.most, g.slow, g.speed = g.to/max(age, 1e-9), at/max(age, 1e-9), mean
	lately := math.Inf(1) // where its node became slow, far less than in the longest window that shows this without doubt
	for _, part := range windows {
		if g.to >= age && part != predicting {
			continue // it is not behind
		}
		then := t.Curve.before(age - max(part*g.fresh, l.window))
		if then.T <= 0 {
			continue
		}
		was, wide := l.read(then.N), age-then.T.Seconds()
		if most := (g.to - was.from) / wide; most < g.most {
			g.most, g.slow = most, (at-was.tau)/wide
		}
		if part == predicting {
			lately = (at - was.tau) / wide
			g.speed = (mean + lately) / 2
		}
	}
	g.slow = min(g.slow, lately)
	if g.to >= age { // it is not behind, whatever it does now
		g.most = max(g.most, 1)
	} else if stalled > 2*l.window && stalled > (g.to-g.from)/pace+l.window {
		g.most, g.slow, g.speed = 0, 0, 0
	}
	return g
}

// late returns the seconds that the attempt needs yet if it stays as slow as it was lately, +Inf for one that hangs. It
// is 0 where that slowness may be chance.
func (g *gauge) late() float64 {
	switch {
	case g.most <= 0:
		return math.Inf(1)
	case g.most > surelySlow:
		return 0
	}
	return g.left / max(g.slow, 0.01)
}

// least returns the seconds that the attempt needs yet if it is as fast as its counts may mean, +Inf for one that hangs.
func (g *gauge) least() float64 {
	if g.most <= 0 {
		return math.Inf(1)
	}
	return g.left / g.most
}

// expected returns the seconds that it is expected to need yet, +Inf for one that hangs.
func (g *gauge) expected() float64 {
	if g.speed <= 0 {
		return math.Inf(1)
	}
	return g.left / g.speed
}

// before returns the last mark at that time or before it.
func (c Curve) before(t float64) Mark {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].T.Seconds() <= t {
			return c[i]
		}
	}
	return Mark{}
}
