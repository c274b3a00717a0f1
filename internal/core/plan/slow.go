package plan

import (
	"fmt"
	"math"

	"berth/internal/core/job"
)

// expectSlowNodes says how many of the tasks that are left are expected to meet a slow node, and what becomes of those.
func (p *Plan) expectSlowNodes(q *Question) {
	if q.Profile == nil {
		return
	}
	left, watch := p.plannedPart(), q.Spec.Terms().Watch
	n, share := left.Tasks+left.Reduces, q.Profile.Slow.All().Share()
	some := func(may func(job.TaskKind) bool) bool {
		return left.Tasks > 0 && may(job.MapTask) || left.Reduces > 0 && may(job.ReduceTask)
	}
	then := ""
	switch {
	case some(watch.MayDuplicate):
		then = " and get duplicates"
	case some(watch.MayAbort):
		then = " and start again"
	}
	if expected := int(math.Round(float64(n) * share)); expected > 0 {
		p.Reasons = append(p.Reasons, fmt.Sprintf("%.2g %% of attempts on such nodes were slow lately: about %s of %s may be slow%s; none is slow with a probability of %.2g",
			100*share, job.FormatCount(expected), job.Count(n, "task"), then, q.Profile.Slow.None(n)))
	}
}

// slowNode returns the probability that one of so many tasks takes the time of another one because its node is slow, for which wall times have room.
func (q *Question) slowNode(tasks int) float64 {
	if q.Profile == nil {
		return 0
	}
	return 1 - q.Profile.Slow.None(tasks)
}
