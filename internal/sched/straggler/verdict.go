package straggler

import (
	"time"

	"berth/internal/job"
)

// Verdict is what a rule says of one attempt.
type Verdict struct {
	Attempt job.Attempt
	Act     Action
	Class   Class
	End     job.Time      // when it is expected to end; 0: no telling
	Fresh   job.Time      // when an attempt that begins now elsewhere is expected to end; 0: no telling
	Cost    time.Duration // core time that the action is expected to add to what the job takes; below 0: it saves
	Why     string        // one sentence, without its full stop, for berth explain
}

// Action is what is to be done to an attempt.
type Action uint8

// The actions.
const (
	Keep      Action = iota // nothing
	Duplicate               // begin a second attempt of its task elsewhere, before tasks that never began
	Abort                   // kill it, and begin its task again elsewhere, before tasks that never began
)

// String returns "keep", "duplicate" or "abort".
func (a Action) String() string { return [...]string{"keep", "duplicate", "abort"}[a] }

// Class is what a rule takes an attempt for.
type Class uint8

// The classes.
const (
	Unknown Class = iota // too little is known of it, or of others
	Healthy              // about as fast as others
	Slow                 // clearly slower than others: its node is to be kept away from
	Hung                 // it makes no progress where others made some: its node is to be kept away from
)

// String returns the class in lower case.
func (c Class) String() string { return [...]string{"unknown", "healthy", "slow", "hung"}[c] }

// Rule says which attempts are stragglers. It is a function of the View alone.
type Rule interface {
	// Name is what users write.
	Name() string
	// Judge returns a verdict on each running attempt: first those that something is to be done to, the most urgent first.
	Judge(v *View) []Verdict
}
