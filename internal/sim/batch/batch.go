// Package batch is the batch system of a simulated cluster, at the level of jobs: rigid
// requests of so many nodes for so long, queued and started by one of the policies that
// batch systems use. It counts nodes; which ones is not its concern.
//
//   - FCFS: first come, first served; nobody overtakes.
//   - EASY: the first job of the queue has a reservation, others start at once where that
//     does not delay it, in the order of arrival (Lifka 1995; EASYSJBF: the shortest first).
//   - CBF: every job has a reservation from its arrival on, in the earliest slot that delays
//     nobody; whenever a job has ended the queue is swept in the order of arrival and each
//     reservation moves to the earliest start that the timeline then allows (models.md,
//     section 2; Mu'alem and Feitelson 2001). After an end at the limit that matters, too: to
//     jobs that a sweep had passed before a later one left them a place.
//
// An event takes a pass over the queue, some nanoseconds for each job that cannot start or move. The queues of real
// logs are some hundred jobs long: indexes of them for EASY and of freed places for CBF took 500
// lines and made no log any faster (BenchmarkReplay).
//
// The package is pure: no clock, file, goroutine or random source.
package batch

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// Policy is how a batch system chooses what starts.
type Policy string

// The policies.
const (
	FCFS     Policy = "fcfs"
	EASY     Policy = "easy"
	EASYSJBF Policy = "easy-sjbf"
	CBF      Policy = "cbf"
)

// Policies are all of them, as they are called on the command line.
var Policies = []Policy{FCFS, EASY, EASYSJBF, CBF}

// ParsePolicy returns the policy of that name.
func ParsePolicy(name string) (Policy, error) {
	var names []string
	for _, p := range Policies {
		if string(p) == name {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", fmt.Errorf("there is no policy %q: use one of %s", name, strings.Join(names, ", "))
}

// ID is a job of the batch system: small numbers, each used once.
type ID int32

// Entry is a job in the queue or on nodes.
type Entry struct {
	ID     ID
	Nodes  int
	Limit  time.Duration // wall time
	Submit job.Time
	Start  job.Time // when it began; of one that waits its reservation, timeline.Never where it has none
}

// scheduler is a policy. Its system has checked what it is told.
type scheduler interface {
	// submit takes in a job that has arrived.
	submit(now job.Time, id ID)
	// cancel takes a waiting job out of the queue.
	cancel(now job.Time, id ID)
	// end takes in that a running job is over; it may have had time left.
	end(now job.Time, id ID)
	// resize takes in that the cluster has so many more nodes, or fewer.
	resize(now job.Time, more int)
	// start appends the jobs that start now to ids, after all ends and arrivals of the instant.
	start(now job.Time, ids []ID) []ID
	// next returns when a job may start without anything else happening; timeline.Never: none.
	next() job.Time
	// timeline returns what is free from now on under the reservations that there are.
	// The caller does not change it and keeps it no longer than until the next call.
	timeline(now job.Time) *timeline.Timeline
	// planned returns when a waiting job is to start, timeline.Never where it has no reservation.
	planned(id ID) job.Time
}
