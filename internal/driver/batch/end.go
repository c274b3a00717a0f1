package batch

import (
	"fmt"
	"os"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver"
)

// explain returns the reasons why jobs ended or are ending, as far as they are known, by the job's id. It reads files, so it is called without the lock.
func (s *site) explain(polled []*alloc, asked []Job, jobs map[string]Status) map[string]step.AllocDown {
	why := map[string]step.AllocDown{}
	for i, a := range polled {
		now := jobs[a.job]
		if !asked[i].Explain {
			continue
		}
		if now.Phase == Gone || now.Phase == Over || now.Phase == Ending && !a.reasonPending(now.Verdict, s.Now()) {
			e := s.ended(a, now)
			e.Reason = s.named(a) + ": " + e.Reason
			why[a.job] = e
		}
	}
	return why
}

// reasonPatience is how long the driver waits for the reason why a job is ending.
const reasonPatience = time.Minute

// reasonPending reports whether a job is ending and the reason may still come. A controller may know
// that a job was cancelled or preempted a moment before its node writes so. Until then the job looks
// like one whose script has ended well. Only the loop calls it.
func (a *alloc) reasonPending(v Verdict, now job.Time) bool {
	if a.ending == 0 {
		a.ending = now
	}
	return now.Sub(a.ending) < reasonPatience && v.Script && !v.Failed && a.first(EndedEnd) < 0 && a.first(FailedEnd) < 0
}

// ended returns the reason why an allocation's job ended, as a message for users.
func (s *site) ended(a *alloc, now Status) step.AllocDown {
	v := now.Verdict
	switch {
	case v.Reason != "" && v.Taken:
		return step.AllocDown{Reason: v.Reason, How: event.EndTaken}
	case v.Reason != "":
		return step.AllocDown{Reason: v.Reason}
	case v.Script:
		return a.finished(now)
	case a.ends > 0 && s.Wall() >= a.ends:
		return step.AllocDown{Reason: "its wall time has passed"}
	default:
		return step.AllocDown{Reason: s.words.System + " does not know it any more"}
	}
}

// finished returns the reason why a job's script ended. If that was before any worker started, only the node of the script is known to be bad.
func (a *alloc) finished(now Status) step.AllocDown {
	v := now.Verdict
	if rank := a.first(FailedEnd); rank >= 0 {
		return step.AllocDown{How: event.EndBroken, Bad: Host(a.dir, rank),
			Reason: fmt.Sprintf("the worker of %s ends as soon as it starts: %s", a.id.Node(rank), driver.LastLine(a.file(rank, logEnd)))}
	}
	switch {
	case !a.began():
		e, on := step.AllocDown{How: event.EndBroken}, ""
		if len(now.Hosts) > 0 {
			e.Bad, on = now.Hosts[0], " on "+now.Hosts[0]
		}
		e.Reason = fmt.Sprintf("its script ended%s before any worker started (status %d): %s; check that the nodes see %s under this path", on, v.Exit, v.Output, a.dir)
		return e
	case !v.Failed:
		return step.AllocDown{Reason: "its workers have ended"}
	default:
		return step.AllocDown{Reason: fmt.Sprintf("its script ended with status %d: %s", v.Exit, v.Output)}
	}
}

// first returns the lowest rank that has a file with this suffix, or −1 if no rank has one.
func (a *alloc) first(end string) int {
	for rank := range a.req.Nodes {
		if _, err := os.Stat(a.file(rank, end)); err == nil {
			return rank
		}
	}
	return -1
}

// began reports whether the script of any node has started.
func (a *alloc) began() bool {
	for rank := range a.req.Nodes {
		if Host(a.dir, rank) != "" {
			return true
		}
	}
	return false
}
