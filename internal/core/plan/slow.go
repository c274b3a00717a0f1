package plan

import (
	"fmt"
	"math"

	"berth/internal/core/job"
)

// slow says how many of the tasks that are left are expected to meet a slow node. They get duplicates, or start again.
func (p *Plan) slow(q *Question) {
	left := p.left()
	n := left.Tasks + left.Reduces
	if q.Profile == nil {
		return
	}
	share := q.Profile.Slow.All().Share()
	if expected := int(math.Round(float64(n) * share)); expected > 0 {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%.2g %% of attempts on such nodes were slow lately: about %s of %s may get duplicates; none is slow with a probability of %.2g",
			100*share, job.FormatCount(expected), job.Count(n, "task"), q.Profile.Slow.None(n)))
	}
}

// again returns the probability that a task of the job has to start again because its node is slow, for which wall times have room.
func (q *Question) again() float64 {
	if q.Profile == nil {
		return 0
	}
	return 1 - q.Profile.Slow.None(q.Counts.Tasks)
}
