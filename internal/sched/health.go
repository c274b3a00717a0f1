package sched

import (
	"time"

	"berth/internal/job"
)

// Trust says when a node is to be kept away from.
type Trust struct {
	After int           // attempts that failed or got lost there in a row …
	For   time.Duration // … while as many were done elsewhere: it gets nothing for so long
}

// maxPenalty is the highest penalty of a node.
const maxPenalty = 10

// Health is the record of a node: what keeps all tasks away from it for a while, and what keeps those away for which a
// slow node would not do (paper no2-outliers, section 6: a blacklist with penalties). The zero value is a node in good standing.
type Health struct {
	strikes int      // attempts that failed or got lost since the last that was done
	mark    uint64   // done on all nodes when the row began
	until   job.Time // suspected until then
	clear   job.Time // when the penalty for slow attempts is worn off
}

// Good takes in an attempt that was done.
func (h *Health) Good() { h.strikes = 0 }

// Bad takes in an attempt that failed or got lost. done counts the attempts done so
// far on all nodes of the same kind: a node is suspected only where others do what
// it cannot, so a program that always fails condemns no node. Bad reports whether
// the node came to be suspected.
func (h *Health) Bad(now job.Time, done uint64, t Trust) bool {
	if h.strikes == 0 {
		h.mark = done
	}
	h.strikes++
	if h.strikes < t.After || done-h.mark < uint64(t.After) {
		return false
	}
	h.strikes = 0
	h.until = now.Add(t.For)
	return true
}

// Suspected reports whether the node is to be kept away from.
func (h *Health) Suspected(now job.Time) bool { return now < h.until }

// Slow takes in that an attempt there was found too slow: the penalty of the node, which is worn off by one in each t.For
// in which no further one is found, grows by one.
func (h *Health) Slow(now job.Time, t Trust) {
	h.clear = min(max(h.clear, now).Add(t.For), now.Add(maxPenalty*t.For))
}

// Penalty returns the node's penalty for slow attempts.
func (h *Health) Penalty(now job.Time, t Trust) float64 {
	return max(0, h.clear.Sub(now).Seconds()/t.For.Seconds())
}

// Avoided reports whether the node is suspected or has a penalty: nothing should begin there that is to make up for a slow attempt.
func (h *Health) Avoided(now job.Time) bool { return h.Suspected(now) || now < h.clear }

// Clear returns the time at which the node's penalty is worn off.
func (h *Health) Clear() job.Time { return h.clear }

// Until returns the time at which the node's last suspicion ends.
func (h *Health) Until() job.Time { return h.until }
