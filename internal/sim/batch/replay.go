package batch

import (
	"berth/internal/job"
	"berth/internal/workload"
)

// Replay runs rigid jobs, in the order of their Submit, through a batch system of so many
// nodes and returns when each started. A job ends when it is done or at its Request,
// whatever comes first. Each fits the cluster.
func Replay(nodes int, p Policy, jobs []workload.Rigid) []job.Time {
	panic("not yet")
}
