package ui

import (
	"fmt"

	"berth/internal/why"
)

// lateReason words what is known of an attempt that is slower than others, and what is done about it.
func lateReason(r why.Reason) string {
	l := r.Late
	return fmt.Sprintf("%s %d on %s %s: %s; %s", r.Task, l.Index+1, l.Node, expected(l), l.Why, dealt(l))
}

// expected words when an attempt ends, and how much sooner another would.
func expected(l *why.Late) string {
	switch {
	case l.Class == "hung":
		return "is not expected to end"
	case l.End <= 0:
		return "is slow"
	case l.Fresh > 0 && l.End > l.Fresh:
		return fmt.Sprintf("is expected to end in %s, %s later than one that begins now", wholeSeconds(l.End), wholeSeconds(l.End-l.Fresh))
	}
	return "is expected to end in " + wholeSeconds(l.End)
}

// dealt words what is done about a slow attempt, or why nothing is.
func dealt(l *why.Late) string {
	switch {
	case l.Beside > 0:
		return fmt.Sprintf("%s of its task run, and the first to be done wins", count(l.Beside+1, "attempt"))
	case l.Act == "keep":
		return "a new attempt would not pay now"
	case !l.Allowed:
		return "two attempts of such a task could harm each other, so it is only told (--duplicates-ok, --outputs or --stragglers abort)"
	case l.Act == "abort":
		return "it is killed, and begins again elsewhere"
	}
	return "another attempt begins as soon as a good node has room"
}
