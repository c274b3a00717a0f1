package starts

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/starts"
)

// toLimits is the Future in which every job runs to its limit and nobody else comes.
type toLimits struct{ *starts.Queue }

func (l toLimits) Running(i int) time.Duration { return l.Queue.Running[i].Limit }
func (l toLimits) Waiting(i int) time.Duration { return l.Queue.Waiting[i].Limit }
func (l toLimits) Arrival(int) (at job.Time, j starts.Job, run time.Duration, ok bool) {
	return 0, starts.Job{}, 0, false
}
