package report

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
)

// maxLate is how much later than expected an allocation may begin, or its nodes may come up, and still count for the
// expected end of its job.
const maxLate = time.Minute

// gain is an allocation, or the rest of one, with which the job will soon be faster.
type gain struct {
	in    float64 // seconds until it begins
	share float64 // its cores, divided by those that the job's tasks run on now
}

// gains returns what the allocations that were requested for the job add to its present nodes, the earliest first.
func (j *Job) gains(now job.Time) []gain {
	used := map[job.AllocID]bool{}
	for _, a := range j.sent {
		used[a.node.Alloc()] = true
	}
	n := j.info.Nodes
	n.mu.RLock()
	defer n.mu.RUnlock()
	cores := 0
	for id := range used {
		if a := n.allocs[id]; a != nil {
			cores += a.Up * a.PerNode.CPUs
		}
	}
	var gains []gain
	for _, a := range n.allocs {
		if in, nodes := a.coming(now.Std()); a.job == j.info.ID && nodes > 0 && cores > 0 {
			gains = append(gains, gain{in, float64(nodes*a.PerNode.CPUs) / float64(cores)})
		}
	}
	slices.SortFunc(gains, func(a, b gain) int { return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.share, b.share)) })
	return gains
}

// coming returns how many nodes of an allocation are expected to come up, and in how many seconds: none where that
// is unknown, or overdue.
func (a *alloc) coming(now time.Time) (in float64, nodes int) {
	at := a.Began
	if a.State == AllocWaiting {
		at = a.Start
	}
	if a.State == AllocOver || at.IsZero() || now.Sub(at) > maxLate {
		return 0, 0
	}
	return max(at.Sub(now).Seconds(), 0), a.Nodes - a.Up
}

// sooner returns the seconds until the phase is over if it takes some seconds on the present nodes and gets the
// gains too. What starts on new nodes ends no sooner than one mean duration after they begin.
func (e *estimate) sooner(seconds, mean float64) float64 {
	if len(e.gains) == 0 || len(e.live) == 0 || e.left() == 0 {
		return seconds
	}
	most := float64(e.group.total) / float64(len(e.live))
	if e.throttle > 0 {
		most = float64(e.throttle) / float64(len(e.live))
	}
	rate, done, at := 1.0, 0.0, 0.0 // rate is 1 on the present nodes, so what is left is the seconds that it takes there
	for _, g := range e.gains {
		if done+rate*(g.in-at) >= seconds {
			break
		}
		done, at = done+rate*(g.in-at), g.in
		rate = max(1, min(rate+g.share, most))
	}
	return max(at+(seconds-done)/rate, min(seconds, e.gains[0].in+mean))
}
