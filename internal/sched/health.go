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

// Health is the record of a node. The zero value is a node in good standing.
type Health struct {
	strikes int      // attempts that failed or got lost since the last that was done
	mark    uint64   // done on all nodes when the row began
	until   job.Time // suspected until then
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

// Until returns the time at which the node's last suspicion ends.
func (h *Health) Until() job.Time { return h.until }
