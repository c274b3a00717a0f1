package starts

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"berth/internal/core/timeline"
)

// kind selects ended jobs that are like another one: by their user, size and limit, as far as each is set.
type kind struct {
	user, nodes int32 // −1: any
	limit       time.Duration
	class       int8 // of the limit, by powers of two
}

// levels is how many kinds are tried for a job, the most like first.
const levels = 4

// kindOf returns the kind of a job at a level: jobs of its user with its limit and size, jobs of its user, jobs with a
// like limit, all jobs.
func kindOf(j *Job, level int) kind {
	switch level {
	case 0:
		return kind{user: j.User, nodes: j.Nodes, limit: j.Limit}
	case 1:
		return kind{user: j.User, nodes: -1}
	case 2:
		return kind{user: -1, nodes: -1, class: int8(bits.Len64(uint64(j.Limit / time.Second)))}
	default:
		return kind{user: -1, nodes: -1}
	}
}

// enough is how many jobs of each kind must have run on as long as the present one, for their run times to be drawn.
var enough = [levels]int{3, 3, 5, 1}

// ratios are the ratios of run time and limit of ended jobs, sorted, by kind.
type ratios map[kind][]float32

func ratiosOf(ended []Ended) ratios {
	type one struct {
		of    *Job
		ratio float32
	}
	sorted := make([]one, len(ended))
	for i := range ended {
		e := &ended[i]
		sorted[i] = one{&e.Job, float32(float64(e.Run) / float64(e.Limit))}
	}
	slices.SortStableFunc(sorted, func(a, b one) int { return cmp.Compare(a.ratio, b.ratio) })
	all := ratios{}
	for _, e := range sorted {
		for level := range levels {
			k := kindOf(e.of, level)
			all[k] = append(all[k], e.ratio)
		}
	}
	return all
}

// pools are the ratios of ended jobs that are like a job and ran on for longer than it has.
type pools struct {
	near []float32 // of the jobs that are most like it; empty if there are none
	far  []float32 // of those that are next; empty likewise
}

// trust is how many jobs of the near pool weigh as much as the far one.
const trust = 2

// like returns the pools of a job that has run for elapsed.
func (all ratios) like(j *Job, elapsed time.Duration) (p pools) {
	passed := float32(float64(elapsed) / float64(j.Limit))
	for level := range levels {
		pool := all[kindOf(j, level)]
		below := 0
		if elapsed > 0 {
			below, _ = slices.BinarySearch(pool, passed)
		}
		switch above := pool[below:]; {
		case len(above) < enough[level]:
		case p.near == nil:
			p.near = above
		case len(above) > len(p.near):
			p.far = above
			return p
		}
	}
	return p
}

// quantile returns the quantile u of the ratios: of the near pool, or of the far one with a probability that falls with the number of
// jobs in the near one.
func (p *pools) quantile(u float64) float32 {
	n := float64(len(p.near))
	if w := n / (n + trust); len(p.far) > 0 && u >= w {
		return p.far[min(int((u-w)/(1-w)*float64(len(p.far))), len(p.far)-1)]
	} else if len(p.far) > 0 {
		u /= w
	}
	return p.near[min(int(u*n), len(p.near)-1)]
}

// quantile returns the quantile u of the run times of a job that has run for elapsed, by the ratios of jobs like it;
// without any, of times spread evenly up to its limit.
func quantile(like *pools, j *Job, elapsed time.Duration, u float64) time.Duration {
	switch {
	case j.Limit == timeline.Unbounded:
		return timeline.Unbounded
	case len(like.near) == 0:
		return elapsed + time.Duration(u*float64(max(0, j.Limit-elapsed)))
	}
	return time.Duration(float64(like.quantile(u)) * float64(j.Limit))
}
