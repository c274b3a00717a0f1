package engine

import (
	"time"

	"berth/internal/job"
)

// What of its wall time an allocation lasts before a node of it is up is lost to tasks: the
// batch system's prologue, the launch of the worker, its way to here. Plans take it to be
// some seconds. Where that is too little an allocation for a single task comes to nothing,
// and so would the next. So it is measured, plans are told of it (Rest.StartUp), and an
// allocation that has yet to begin is only believed in as far as it has time for that, too.

const (
	// emptyFactor is how many times as long as an allocation has lasted without a node nodes
	// are then taken to need: it had time for a task as far as its plan knew, so they need much
	// longer than that, and there are not many more tries (Config.MaxBarren).
	emptyFactor = 4
	// emptyMost bounds that: a node that does not come in so long does not come.
	emptyMost = 10 * time.Minute
	// lateMost bounds how late it is told that an allocation has begun. What else it lacks of
	// the time that was asked for was taken from it.
	lateMost = time.Minute
)

// measureStartUp takes in that an allocation has begun or that its first node is up, and
// measures once both are so. What was measured before counts half: one slow allocation is
// forgotten in time.
func (p *pool) measureStartUp(a *alloc) {
	if a.measured || !a.begun || a.joined == 0 {
		return
	}
	a.measured = true
	p.startUp = max(a.lasted(a.first), p.startUp/2)
}

// guessStartUp takes in the end of an allocation: if it has begun and had no node,
// start-up takes longer than it lasted.
func (p *pool) guessStartUp(a *alloc) {
	if a.begun && a.joined == 0 {
		p.startUp = max(p.startUp, min(emptyFactor*a.lasted(a.endedAt), emptyMost))
	}
}

// startUpOf returns how much of its wall time an allocation is reckoned to lose: half of it at
// most, as this may be a guess. Else none that can be had would be tried, and plans went on for
// ever; those that are tried and come to nothing are counted (Config.MaxBarren).
func (p *pool) startUpOf(r job.AllocRequest) time.Duration { return min(p.startUp, r.Time/2) }

// lasted returns how much of its wall time an allocation that has begun had lasted by then.
func (a *alloc) lasted(by job.Time) time.Duration {
	lasted := max(0, by.Sub(a.began))
	if a.Ends != 0 && a.req.Time != 0 { // that it had begun may have been told late
		lasted = max(lasted, min(a.req.Time-a.Ends.Sub(by), lateMost))
	}
	return lasted
}
