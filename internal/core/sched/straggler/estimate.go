package straggler

import "math"

// estimate is the measurement of one attempt by a scale.
type estimate struct {
	reading
	speed float64 // expected speed, in virtual seconds for each second
	rest  float64 // virtual seconds that are left by that expectation
	slow  float64 // speed in the slowest window, or the latest speed if that is less
	most  float64 // upper bound of its speed in that window, given the slack of counts; 0: it hangs
	fresh float64 // seconds that a fresh attempt of its task takes
}

// windows are the periods up to now over which speeds are measured, as parts of a task's duration.
var windows = [...]float64{1. / 8, 1. / 4, 1. / 2}

// predicting is the window that, together with the mean speed, determines the expected end.
const predicting = 1. / 4

// window is the shortest period over which a speed can be measured, in seconds: 6 for an interval of 3 s. Younger attempts have no estimate.
func (v *View) window() float64 { return 2 * v.Interval.Seconds() }

// surelySlow is the speed below which an attempt is slow, whatever the error of its counts.
const surelySlow = 0.9

// estimate measures an attempt. Its speed is at most that of the slowest window. The upper bound of a window's speed takes the latest virtual
// time that the count may mean at its end, and the earliest at its start.
func (l *scale) estimate(r *Running) estimate {
	t := r.Track
	g := estimate{reading: l.read(t.Now.N), fresh: l.took}
	age := t.Now.T.Seconds()
	mean := g.tau / max(t.Moved.T.Seconds(), 1e-9)
	pace := min(max(mean, 0.25), 1)
	stalled := age - t.Moved.T.Seconds()
	at := min(max(g.flat, g.tau), g.tau+stalled*pace) // the attempt also passes a stretch without counts
	usual := g.usual(age)
	g.rest = max(g.left-(usual-g.tau), 0)
	g.left = max(g.left-(at-g.tau), 0)
	g.most, g.slow, g.speed = g.to/max(age, 1e-9), at/max(age, 1e-9), usual/max(age, 1e-9)
	lately := math.Inf(1) // if its node became slow, this is far less than in the longest window that shows it beyond doubt
	behind, surely := g.to < age, false
	for _, part := range windows {
		then := t.Curve.before(age - max(part*g.fresh, l.window))
		if speed, most, known := l.lately(t, then.T.Seconds()); known && at < age && most < min(surelySlow, g.most) {
			g.most, g.slow, surely = most, speed, true
		}
		if !behind && part != predicting {
			continue // it is not behind
		}
		if then.T <= 0 {
			continue
		}
		was, wide := l.read(then.N), age-then.T.Seconds()
		if most := (g.to - was.from) / wide; behind && most < g.most {
			g.most, g.slow = most, (at-was.tau)/wide
		}
		if part == predicting {
			lately = (at - was.tau) / wide
			g.speed = (g.speed + (usual-was.usual(then.T.Seconds()))/wide) / 2
		}
	}
	g.slow = min(g.slow, lately)
	if !behind && !surely { // it is not behind, whatever it does now
		g.most = max(g.most, 1)
	} else if behind && stalled > 2*l.window && stalled > (g.to-g.from)/pace+l.window {
		g.most, g.slow, g.speed = 0, 0, 0
	}
	return g
}

// late returns the remaining seconds of the attempt at its latest speed, +Inf for one that hangs, and 0 if its slowness
// may be chance.
func (g *estimate) late() float64 {
	switch {
	case g.most <= 0:
		return math.Inf(1)
	case g.most > surelySlow:
		return 0
	}
	return g.left / max(g.slow, 0.01)
}

// least returns the lower bound of the attempt's remaining seconds, given the slack of counts, +Inf for one that hangs.
func (g *estimate) least() float64 {
	if g.most <= 0 {
		return math.Inf(1)
	}
	return g.left / g.most
}

// expected returns the expected remaining seconds of the attempt, +Inf for one that hangs.
func (g *estimate) expected() float64 {
	if g.speed <= 0 {
		return math.Inf(1)
	}
	return g.rest / g.speed
}

// before returns the last mark at or before the time t.
func (c Curve) before(t float64) Mark {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].T.Seconds() <= t {
			return c[i]
		}
	}
	return Mark{}
}
