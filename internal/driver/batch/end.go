package batch

import (
	"fmt"
	"os"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/driver"
)

// end is the reason why an allocation ended.
type end struct {
	reason string
	how    event.AllocEnd
	bad    string // the node on which a worker could not start, if that is the reason and it is known
}

// explain returns the reasons why jobs ended or are ending, as far as they are known, by the job's id. It reads files, so it is called without the lock.
func (s *site) explain(asked []Job, jobs map[string]Status) map[string]end {
	s.mu.Lock()
	allocs := slices.Clone(s.allocs)
	s.mu.Unlock()
	why := map[string]end{}
	for _, a := range allocs {
		i := slices.IndexFunc(asked, func(j Job) bool { return j.ID == a.job && j.Explain })
		if i < 0 {
			continue
		}
		now := jobs[a.job]
		if now.Phase == Gone || now.Phase == Over || now.Phase == Ending && !a.reasonPending(now.Verdict, s.Now()) {
			e := s.ended(a, now)
			e.reason = s.named(a) + ": " + e.reason
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
func (s *site) ended(a *alloc, now Status) end {
	v := now.Verdict
	switch {
	case v.Reason != "" && v.Taken:
		return end{reason: v.Reason, how: event.EndTaken}
	case v.Reason != "":
		return end{reason: v.Reason}
	case v.Script:
		return a.finished(now)
	case a.ends > 0 && s.Wall() >= a.ends:
		return end{reason: "its wall time has passed"}
	default:
		return end{reason: s.words.System + " does not know it any more"}
	}
}

// finished returns the reason why a job's script ended. If that was before any worker started, only the node of the script is known to be bad.
func (a *alloc) finished(now Status) end {
	v := now.Verdict
	if rank := a.first(FailedEnd); rank >= 0 {
		return end{how: event.EndBroken, bad: Host(a.dir, rank),
			reason: fmt.Sprintf("the worker of %s ends as soon as it starts: %s", a.id.Node(rank), driver.LastLine(a.file(rank, logEnd)))}
	}
	switch {
	case !a.began():
		e, on := end{how: event.EndBroken}, ""
		if len(now.Hosts) > 0 {
			e.bad, on = now.Hosts[0], " on "+now.Hosts[0]
		}
		e.reason = fmt.Sprintf("its script ended%s before any worker started (status %d): %s; check that the nodes see %s under this path", on, v.Exit, v.Output, a.dir)
		return e
	case !v.Failed:
		return end{reason: "its workers have ended"}
	default:
		return end{reason: fmt.Sprintf("its script ended with status %d: %s", v.Exit, v.Output)}
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
