package straggler

import (
	"time"

	"berth/internal/core/job"
)

// Verdict is a rule's decision on one attempt.
type Verdict struct {
	Attempt job.Attempt
	Act     Action
	State   State
	End     job.Time      // its expected end; 0: unknown
	Fresh   job.Time      // expected end of an attempt that would start elsewhere now; 0: unknown
	Cost    time.Duration // core time that the action is expected to add to the job; below 0: to save
	Why     string        // one sentence without its full stop, for berth explain
}

// Action is what to do with an attempt.
type Action uint8

// The actions.
const (
	Keep      Action = iota // do nothing
	Duplicate               // start a second attempt of its task elsewhere, before tasks that never started
	Abort                   // kill it, and start its task again elsewhere, before tasks that never started
)

// String returns "keep", "duplicate" or "abort".
func (a Action) String() string { return [...]string{"keep", "duplicate", "abort"}[a] }

// State is the state that a rule finds an attempt in.
type State uint8

// The states.
const (
	Unknown State = iota // too little is known about it, or about others
	Healthy              // about as fast as others
	Slow                 // clearly slower than others: its node is avoided
	Hung                 // it makes no progress where others made some: its node is avoided
)

// String returns the state in lower case.
func (s State) String() string { return [...]string{"unknown", "healthy", "slow", "hung"}[s] }

// Rule decides which attempts are stragglers. Its result depends only on the View.
type Rule interface {
	// Name is the name that users write.
	Name() string
	// Assess returns a verdict on each running attempt: those with an action first, the most urgent first.
	Assess(v *View) []Verdict
}
