package straggler

import (
	"fmt"
	"math"
	"slices"
	"time"

	"berth/internal/job"
)

// Berth is berth's own rule. The curves of attempts that were done turn a count N into virtual time τ = N_ref⁻¹(N), which is linear in
// work however uneven the counts are. The speed of an attempt is dτ/dt, it needs (τ_end − τ)/speed yet, and when it began
// does not matter. It is late where a fresh attempt on another node is expected to end clearly earlier, even if it is as fast as its
// counts can mean. One that makes no progress for longer than any stretch of its curve without counts hangs: it is late for ever.
//
// What is done about it: a duplicate while there are free places and the budget has something left; else, where that pays, the
// attempt is aborted. While tasks wait for places, only what saves core time, or holds up the end of the job.
type Berth struct{}

// The margins: a fresh attempt has to end earlier by such a share of what it takes, as expectations are off.
const (
	duplicateMargin = 0.2 // the duplicate may be for nothing
	peersMargin     = 0.1 // the same where no attempt was done yet
	abortMargin     = 0.5 // the work that was done is lost
	slowSpeed       = 0.75
	mostCopies      = 3 // live attempts of a task
	mostAborts      = 3 // of a task
)

// Name returns "berth".
func (Berth) Name() string { return "berth" }

// Judge finds attempts whose tasks a fresh one would end clearly earlier.
func (Berth) Judge(v *View) []Verdict {
	b := bench{View: v, gauges: make([]*gauge, len(v.Running)), rulers: map[job.ProgressSource]*ruler{}}
	for i := range v.Running {
		b.measure(i)
	}
	return b.act(b.verdicts())
}

// bench is a View under the rule's hands.
type bench struct {
	*View
	gauges []*gauge // of each attempt; nil: nothing can be said
	rulers map[job.ProgressSource]*ruler
}

func (b *bench) measure(i int) {
	r := &b.Running[i]
	l := b.rulerOf(r)
	switch {
	case l == nil:
		b.gauges[i] = b.byTime(r)
	case r.Track.Now.T.Seconds() >= b.window():
		g := l.gauge(r)
		if g.over {
			g = b.beyond(r, g)
		}
		b.gauges[i] = &g
	}
}

// rulerOf returns what the progress of an attempt is measured by, nil if nothing is known of it or of others.
func (b *bench) rulerOf(r *Running) *ruler {
	if r.Track == nil || r.Track.Source == job.ProgressNone {
		return nil
	}
	l, known := b.rulers[r.Track.Source]
	if !known {
		l = b.ruler(r.Track.Source)
		b.rulers[r.Track.Source] = l
	}
	return l
}

// verdicts returns what is told of each attempt, whatever is done about it.
func (b *bench) verdicts() []Verdict {
	out := make([]Verdict, len(b.Running))
	for i := range out {
		d, g := &out[i], b.gauges[i]
		d.Attempt = b.Running[i].Attempt
		if g == nil {
			d.Why = "too little is known of it, or of others"
			continue
		}
		d.Class, d.Fresh = g.class(), b.after(g.fresh)
		if d.Class != Hung && !b.guessed(i) {
			d.End = b.after(g.expected())
		}
		d.Why = fmt.Sprintf("it runs at %.2f of the usual speed", g.speed)
		if d.Class == Hung {
			d.Why = "it makes no progress"
		}
	}
	return out
}

// guessed reports whether nothing is known of when attempts like this one end.
func (b *bench) guessed(i int) bool {
	l := b.rulerOf(&b.Running[i])
	return l != nil && len(l.ends) == 0
}

func (g *gauge) class() Class {
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
	left, fresh float64 // seconds: what it needs yet, and what a fresh one takes
	least       float64 // what it needs yet at least
	margin      float64
	guessed     bool // nothing is known of when it would end
}

// lates returns the tasks all of whose attempts are late, those first where most is to be gained.
func (b *bench) lates() (found []late) {
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
	slices.SortStableFunc(found, func(x, y late) int {
		switch gx, gy := x.least-x.fresh, y.least-y.fresh; {
		case gx > gy:
			return -1
		case gx < gy:
			return 1
		}
		return 0
	})
	return found
}

// late reports whether the attempts from one index up to another, all of one task, are all late.
func (b *bench) late(from, to int) (late, bool) {
	l := late{index: from, left: math.Inf(1), least: math.Inf(1)}
	if copies := to - from; copies >= mostCopies || b.Running[from].Duplicates != copies-1 {
		return l, false // enough, or one is asked for and not there yet
	}
	for i := from; i < to; i++ {
		g := b.gauges[i]
		if g == nil {
			return l, false
		}
		l.left, l.least, l.fresh, l.margin = min(l.left, g.late()), min(l.least, g.least()), g.fresh, duplicateMargin
		if b.guessed(i) {
			l.margin, l.guessed = peersMargin, true
		}
	}
	return l, l.left > l.fresh*(1+l.margin)+2*b.Interval.Seconds()
}

// act decides what is done about tasks that are late, and puts these verdicts first.
func (b *bench) act(told []Verdict) []Verdict {
	spare := b.Budget.Seconds() - b.committed()
	var acts []Verdict
	ends := b.ends()
	used := 0
	for _, l := range b.lates() {
		d := told[l.index]
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
		d.Class = max(d.Class, Slow) // what is late enough to be acted on is slow
		d.Why += fmt.Sprintf("; it needs %s yet, and a fresh attempt %.0f s", needs(l.left), l.fresh)
		acts = append(acts, d)
		told[l.index].Attempt.N = 0 // it is told first
	}
	for _, d := range told {
		if d.Attempt.N != 0 {
			acts = append(acts, d)
		}
	}
	return acts
}

func needs(left float64) string {
	if math.IsInf(left, 1) {
		return "for ever"
	}
	return fmt.Sprintf("%.0f s", left)
}

// seconds returns a duration, bounded where it is infinite.
func seconds(s float64) time.Duration {
	return time.Duration(max(min(s, longest), -longest) * float64(time.Second))
}

// choose says what is done about a task that is late, when so many others have been dealt with in this look. One that hangs is
// ended whatever the budget says: it takes no processor time itself, and its job would have no end.
func (b *bench) choose(l late, used int, affordable bool, ends []float64) Action {
	r, hangs := &b.Running[l.index], math.IsInf(l.least, 1)
	abort := b.Abort && r.Duplicates == 0 && r.Attempt.N <= mostAborts && (!l.guessed || hangs)
	duplicate := b.Duplicate && (affordable || hangs)
	switch {
	case b.Ready > 0:
		wait := l.fresh * float64(used+1) / float64(max(b.Places, 1))
		end := l.fresh * (1 + float64(b.Ready)/float64(max(b.Places, 1))) // of the job, without this task
		switch {
		case abort && l.least > wait+l.fresh*(1+abortMargin):
			return Abort
		case duplicate && (l.left > 2*l.fresh+wait || l.left > end*(1+duplicateMargin)):
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
		return Duplicate // as soon as there is a place, which is as soon as one that was aborted could begin
	case abort && (hangs || !b.Duplicate && used < len(ends) && l.least > ends[used]+l.fresh*(1+abortMargin)):
		return Abort
	}
	return Keep
}

// charge returns the core seconds that a duplicate of the attempt is to take at most. Where that would be a guess it is what the budget was
// reckoned by.
func (b *bench) charge(i int) float64 {
	g := b.gauges[i]
	switch {
	case g == nil || b.guessed(i):
		return b.Mean.Seconds() * b.Cores
	}
	return min(g.fresh, g.least()) * b.Cores
}

// committed returns the core seconds that duplicates which run, or are asked for, are yet to take.
func (b *bench) committed() (sum float64) {
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

// ends returns when healthy attempts are expected to end, in seconds from now, ascending: then places become free.
func (b *bench) ends() (at []float64) {
	for i := range b.Running {
		if g := b.gauges[i]; g != nil && g.class() == Healthy {
			at = append(at, g.expected())
		}
	}
	slices.Sort(at)
	return at
}
