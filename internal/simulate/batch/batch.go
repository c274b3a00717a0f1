// Package batch simulates the batch system of a cluster at the level of jobs: rigid requests for a
// number of nodes and a wall time, queued and started by one of the usual policies. It counts nodes
// and does not distinguish them.
//
//   - FCFS: first come, first served; no job overtakes another.
//   - EASY: the first job of the queue has a reservation. Others start at once if that does not
//     delay it, in the order of arrival (Lifka 1995; EASYSJBF: shortest first).
//   - CBF: conservative backfilling. Every job gets a reservation on arrival, in the earliest
//     slot that delays no other job. Whenever a job has ended, the queue is swept in the order of
//     arrival, and each reservation moves to the earliest start that the timeline then allows
//     (Mu'alem and Feitelson 2001). The sweep also runs after an end at the
//     wall time, because the previous sweep may have freed nodes for jobs that it had already
//     passed.
//
// A simulator submits jobs to a System, calls Start after all events of an instant, and calls End
// for each job that has ended:
//
//	s := batch.New(nodes, batch.EASY)
//	s.Submit(now, id, nodes, limit)
//	ids = s.Start(now, ids[:0])
//
// Each event needs one pass over the queue, some nanoseconds for each job that cannot start or move.
// The queues of real logs have some hundred jobs. Indexes of them for EASY, and of freed slots for
// CBF, needed 500 lines and made no log faster (BenchmarkReplay).
//
// The package is pure: it must not use a clock, files, goroutines or randomness.
package batch

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// Policy names the rule by which a batch system starts jobs.
type Policy string

// The policies.
const (
	FCFS     Policy = "fcfs"
	EASY     Policy = "easy"
	EASYSJBF Policy = "easy-sjbf"
	CBF      Policy = "cbf"
)

// Policies are all policies, as named on the command line.
var Policies = []Policy{FCFS, EASY, EASYSJBF, CBF}

// ID identifies a job of the batch system. IDs are small and used once.
type ID int32

// Entry is a job in the queue or on nodes.
type Entry struct {
	ID     ID
	Nodes  int
	Limit  time.Duration // wall time
	Submit job.Time
	Start  job.Time // start of a running job; reservation of a waiting one, or timeline.Never
}

// request is a waiting job.
type request struct {
	at    job.Time // reserved start under CBF; timeline.Never: no reservation
	limit time.Duration
	nodes int32
	id    ID
}

// scheduler implements a policy on the queue and the timeline of its System, which has checked all arguments and has made now the beginning of
// the timeline.
type scheduler interface {
	// submit handles a job that was put at the end of the queue.
	submit(now job.Time, w *request)
	// cancel handles a job that was removed from a place of the queue.
	cancel(now job.Time, w request, place int)
	// end handles the end of a running job, possibly before its limit.
	end(now job.Time, id ID)
	// resize adds more nodes to the cluster, or removes nodes if more is negative.
	resize(now job.Time, more int)
	// start moves the jobs that start now from the queue to ids. It is called after all ends and arrivals of the
	// instant.
	start(now job.Time, ids []ID) []ID
	// next returns the next instant at which a job may start without any other event, or
	// timeline.Never.
	next() job.Time
	// timeline returns the free nodes from now on under the present reservations. It is valid until
	// the next call, and the caller must not change it.
	timeline(now job.Time) *timeline.Timeline
	// planned returns the reserved start of the job at a place of the queue, or timeline.Never.
	planned(place int) job.Time
}
