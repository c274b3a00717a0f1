package ui

import (
	"fmt"

	"berth/internal/core/explain"
)

// lateReason describes a slow attempt and what is done about it.
func lateReason(r explain.Reason) string {
	l := r.Late
	return fmt.Sprintf("%s %d on %s %s: %s; %s", r.Task, l.Index+1, l.Node, expected(l), l.Why, action(l))
}

// expected describes when an attempt ends, and how much sooner a new one would end.
func expected(l *explain.Late) string {
	switch {
	case l.Class == "hung":
		return "is not expected to end"
	case l.End <= 0:
		return "is slow"
	case l.Fresh > 0 && l.End > l.Fresh:
		return fmt.Sprintf("is expected to end in %s, %s later than a new attempt", wholeSeconds(l.End), wholeSeconds(l.End-l.Fresh))
	}
	return "is expected to end in " + wholeSeconds(l.End)
}

// action describes what is done about a slow attempt, or why nothing is done.
func action(l *explain.Late) string {
	switch {
	case l.Beside > 0:
		return fmt.Sprintf("%s of its task run, and the first to finish is committed", count(l.Beside+1, "attempt"))
	case l.Act == "keep":
		return "a new attempt would not end sooner"
	case !l.Allowed:
		return "no second attempt starts, because the task's attempts may write the same files (allow it with --duplicates-ok, --outputs or --stragglers abort)"
	case l.Act == "abort":
		return "it is killed, and a new attempt starts on another node"
	}
	return "a duplicate starts as soon as a fast node has a free slot"
}
