package sched

import (
	"time"

	"berth/internal/core/job"
)

// Trust says when a node becomes suspected, and for how long.
type Trust struct {
	After int           // a node is suspected after so many attempts in a row that failed or were lost there …
	For   time.Duration // … while as many were done elsewhere; no task starts there for that time
}

// maxPenalty is the highest penalty of a node.
const maxPenalty = 10

// Health is the record of a node. It keeps all tasks away from a suspected node for a while, and urgent tasks away from a
// slow one (paper no2-outliers, section 6: a blacklist with penalties). The zero value is a healthy node.
type Health struct {
	strikes int    // attempts that failed or were lost since the last one that was done
	mark    uint64 // attempts done on all nodes when the strikes began
	// Until is the end of its last suspicion, and SlowUntil when the penalty for slow attempts has expired.
	Until, SlowUntil job.Time
}

// Good adds an attempt that was done.
func (h *Health) Good() { h.strikes = 0 }

// Bad adds an attempt that failed or was lost, and reports whether the node is suspected now.
// done counts the attempts done so far on all nodes of the same kind: a node is suspected
// only if others complete tasks meanwhile, so a program that always fails makes no node
// suspected.
func (h *Health) Bad(now job.Time, done uint64, t Trust) bool {
	if h.strikes == 0 {
		h.mark = done
	}
	h.strikes++
	if h.strikes < t.After || done-h.mark < uint64(t.After) {
		return false
	}
	h.strikes = 0
	h.Until = now.Add(t.For)
	return true
}

// Suspected reports whether the node is suspected.
func (h *Health) Suspected(now job.Time) bool { return now < h.Until }

// Slow adds an attempt on the node that was found too slow. The node's penalty grows by one; it falls by one in each t.For
// without a further slow attempt.
func (h *Health) Slow(now job.Time, t Trust) {
	h.SlowUntil = min(max(h.SlowUntil, now).Add(t.For), now.Add(maxPenalty*t.For))
}

// Avoided reports whether the node is suspected or has a penalty. No task that replaces a slow attempt should start there.
func (h *Health) Avoided(now job.Time) bool { return h.Suspected(now) || now < h.SlowUntil }
