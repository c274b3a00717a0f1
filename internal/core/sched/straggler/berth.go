package straggler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
)

// Berth is berth's own rule. The curves of attempts that were done convert a count N into virtual time τ = N_ref⁻¹(N), which is linear in
// work however uneven the counts are. The speed of an attempt is dτ/dt, and its remaining time is (τ_end − τ)/speed, independent of
// when it started. It is late if a fresh attempt on another node is expected to end clearly earlier, even if the attempt is as fast as its
// counts allow. An attempt without progress for longer than any stretch of its curve without counts hangs; its remaining time is infinite.
//
// A late task gets a duplicate while slots are free and the budget suffices. Otherwise its attempt is aborted if
// that is expected to pay. While tasks wait for slots, an attempt that makes progress gets no duplicate: one that starts before a waiting task only
// changes places with it. Nor does an abort help, as a slow node does a part of the work of a healthy one, and what starts there
// next is as slow; without duplicates it is the only help for an attempt that would end long after all others.
type Berth struct{}

// The margins are shares of the fresh attempt's time by which it must end earlier, as expectations have errors.
const (
	duplicateMargin = 0.1 // the duplicate may be in vain
	abortMargin     = 0.5 // the work of the attempt is lost
	slowSpeed       = 0.75
	mostCopies      = 3 // running attempts of a task
	mostAborts      = 3 // aborts of a task
)

// Name returns "berth".
func (Berth) Name() string { return "berth" }

// Assess finds attempts that a fresh attempt would clearly overtake.
func (Berth) Assess(v *View) []Verdict {
	b := assessment{View: v, estimates: make([]*estimate, len(v.Running)), scales: map[job.ProgressSource]*scale{}}
	for i := range v.Running {
		b.measure(i)
	}
	return b.act(b.candidates())
}

// assessment is a View with the estimates of the rule.
type assessment struct {
	*View
	estimates []*estimate // by index of the attempt; nil: unknown
	scales    map[job.ProgressSource]*scale
}

func (b *assessment) measure(i int) {
	r := &b.Running[i]
	l := b.scaleOf(r)
	switch {
	case l == nil:
		b.estimates[i] = b.byTime(r)
	case r.Track.Now.T.Seconds() >= b.window():
		g := l.estimate(r)
		if g.over {
			g = b.beyond(r, g)
		}
		b.estimates[i] = &g
	}
}

// scaleOf returns the scale for the progress of an attempt, nil if too little is known.
func (b *assessment) scaleOf(r *Running) *scale {
	if r.Track == nil || r.Track.Source == job.ProgressNone {
		return nil
	}
	l, known := b.scales[r.Track.Source]
	if !known {
		l = b.curveScale(r.Track.Source)
		b.scales[r.Track.Source] = l
	}
	return l
}

// candidates returns a verdict on each attempt, without actions.
func (b *assessment) candidates() []Candidate {
	out := make([]Candidate, len(b.Running))
	for i := range out {
		d, g := &out[i], b.estimates[i]
		d.Index = i
		if g == nil {
			d.Why = "too little is known about it, or about others"
			continue
		}
		d.State, d.Fresh = g.state(), b.After(g.fresh)
		if d.State != Hung && !b.guessed(i) {
			d.End = b.After(g.expected())
		}
		d.Why = fmt.Sprintf("it runs at %.2f of the usual speed", g.speed)
		if d.State == Hung {
			d.Why = "it makes no progress"
		}
	}
	return out
}

// guessed reports whether nothing is known about when such attempts end.
func (b *assessment) guessed(i int) bool {
	l := b.scaleOf(&b.Running[i])
	return l != nil && len(l.ends) == 0
}

func (g *estimate) state() State {
	switch {
	case g.most <= 0:
		return Hung
	case g.most < surelySlow && g.slow < slowSpeed:
		return Slow
	}
	return Healthy
}

// late is a task all of whose attempts are late.
type late struct {
	index       int     // of the attempt to act on
	left, fresh float64 // seconds: its expected remaining time, and that of a fresh attempt
	least       float64 // lower bound of its remaining time
	guessed     bool    // its end is unknown
}

// gain returns by how much a fresh attempt ends earlier, at least.
func (l *late) gain() float64 { return l.least - l.fresh }

// lateTasks returns the tasks all of whose attempts are late, the largest gain first.
func (b *assessment) lateTasks() (found []late) {
	for i := 0; i < len(b.Running); {
		k := i + 1
		for k < len(b.Running) && b.Running[k].Attempt.Task == b.Running[i].Attempt.Task {
			k++
		}
		if l, ok := b.late(i, k); ok {
			found = append(found, l)
		}
		i = k
	}
	slices.SortStableFunc(found, func(x, y late) int { return cmp.Compare(y.gain(), x.gain()) })
	return found
}

// late reports whether the attempts with indices from…to−1, which are all attempts of one task, are all late.
func (b *assessment) late(from, to int) (late, bool) {
	l := late{index: from, left: math.Inf(1), least: math.Inf(1)}
	if copies := to - from; copies >= mostCopies || b.Running[from].Duplicates != copies-1 {
		return l, false // enough attempts run, or one has been requested and has not started
	}
	for i := from; i < to; i++ {
		g := b.estimates[i]
		if g == nil {
			return l, false
		}
		l.left, l.least, l.fresh = min(l.left, g.late()), min(l.least, g.least()), g.fresh
		l.guessed = l.guessed || b.guessed(i)
	}
	return l, l.left > l.fresh*(1+duplicateMargin)+b.Interval.Seconds()
}

// act decides what to do about late tasks.
func (b *assessment) act(on []Candidate) []Verdict {
	spare := b.Budget.Seconds() - b.committed()
	ends := b.ends()
	used := 0
	for _, l := range b.lateTasks() {
		d := &on[l.index]
		switch d.Act = b.choose(l, used, spare > 0, ends); d.Act {
		case Keep:
			continue
		case Duplicate:
			spare -= b.charge(l.index)
			d.Cost = seconds((2*l.fresh - l.left) * b.Cores)
		case Abort:
			d.Cost = seconds((l.fresh - l.left) * b.Cores)
		}
		used++
		d.Rank = l.gain()
		d.State = max(d.State, Slow) // an attempt that is late enough for an action is slow
		d.Why += fmt.Sprintf("; it needs %s more, a fresh attempt %.0f s", needs(l.left), l.fresh)
	}
	return b.Verdicts(on)
}

func needs(left float64) string {
	if math.IsInf(left, 1) {
		return "for ever"
	}
	return fmt.Sprintf("%.0f s", left)
}

// seconds returns a duration, bounded if s is infinite.
func seconds(s float64) time.Duration {
	return job.Seconds(max(min(s, longest), -longest))
}

// choose returns the action for a late task, after used others were handled in this round. An attempt that hangs is
// ended whatever the budget, as it uses no processor time itself and its job would never end.
func (b *assessment) choose(l late, used int, affordable bool, ends []float64) Action {
	r, hangs := &b.Running[l.index], math.IsInf(l.least, 1)
	abort := b.Abort && r.Duplicates == 0 && r.Attempt.N <= mostAborts && (!l.guessed || hangs)
	duplicate := b.Duplicate && (affordable || hangs)
	switch {
	case b.Ready > 0:
		end := l.fresh * (1 + float64(b.Ready)/float64(max(b.Slots, 1))) // of the job without this task
		switch {
		case abort && (hangs || !b.Duplicate && l.least > end+l.fresh*(1+abortMargin)):
			return Abort
		case duplicate && hangs:
			return Duplicate
		}
	case b.elsewhere(r.Node)-used > 0:
		switch {
		case duplicate:
			return Duplicate
		case abort && !b.Duplicate && l.least > l.fresh*(1+abortMargin):
			return Abort
		}
	case duplicate && hangs && len(ends) > 0:
		return Duplicate // it starts when a slot is free, which is when an aborted one could start again
	case abort && (hangs || !b.Duplicate && used < len(ends) && l.least > ends[used]+l.fresh*(1+abortMargin)):
		return Abort
	}
	return Keep
}

// charge returns the expected core seconds of a duplicate of the attempt. If its time would be a guess, it is the mean time with which the budget
// was computed.
func (b *assessment) charge(i int) float64 {
	g := b.estimates[i]
	if g == nil || b.guessed(i) {
		return b.Mean.Seconds() * b.Cores
	}
	return min(g.fresh, g.least()) * b.Cores
}

// committed returns the core seconds that running and requested duplicates are still expected to take.
func (b *assessment) committed() (sum float64) {
	for i := range b.Running {
		switch r := &b.Running[i]; {
		case r.Duplicate:
			sum -= min(r.Age(b.Now).Seconds()*b.Cores, b.charge(i))
		case r.Duplicates > 0:
			sum += b.charge(i)
		}
	}
	return max(sum, 0)
}

// ends returns the expected ends of healthy attempts, in seconds from now, ascending. Slots become free then.
func (b *assessment) ends() (at []float64) {
	for i := range b.Running {
		if g := b.estimates[i]; g != nil && g.state() == Healthy {
			at = append(at, g.expected())
		}
	}
	slices.Sort(at)
	return at
}
