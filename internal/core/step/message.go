package step

import (
	"cmp"

	"berth/internal/core/event"
)

// Inputs and actions that a coordinator and a worker send each other are messages (package wire) as they are. Their methods Check refuse
// values that berth never sends and that would break an index or a comparison.

func (in GrantWanted) Check() error  { return event.CheckAttempt(in.Attempt, in.Phase) }
func (in CommitWanted) Check() error { return event.CheckAttempt(in.Attempt) }
func (in Asks) Check() error         { return event.CheckAttempt(in.Attempt) }
func (in FetchFailed) Check() error {
	return cmp.Or(event.CheckAttempt(in.By), event.CheckAttempt(in.Map))
}

func (a Start) Check() error {
	return cmp.Or(event.CheckAttempt(a.Behind), event.CheckAttempt(a.Attempt, a.Through))
}
func (a Kill) Check() error   { return event.CheckAttempt(a.Attempt) }
func (a Grant) Check() error  { return event.CheckAttempt(a.Attempt, a.Phase) }
func (a Commit) Check() error { return event.CheckAttempt(a.Attempt) }
func (a Ask) Check() error    { return event.CheckAttempt(a.Attempt) }
func (a Locate) Check() error { return event.CheckAttempt(a.Attempt) }
func (a Forget) Check() error { return nil } // all of its values are valid
