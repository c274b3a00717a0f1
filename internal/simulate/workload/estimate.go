package workload

import (
	"math/rand/v2"
	"slices"
	"time"
)

// estimateFactor is the default of f. With it a job uses 41 % of its estimate on average before
// rounding (ln(1+f)/f), about as in logs of HPC clusters.
const estimateFactor = 4

// popular are the round times up to a day. Beyond a day, whole days are round.
var popular = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour, 6 * time.Hour, 8 * time.Hour, 10 * time.Hour,
	12 * time.Hour, 15 * time.Hour, 18 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Estimates models the wall times that users request, given the run times of their jobs.
//
// The estimate for a run time r is r·(1 + f·U) with U uniform in [0, 1): the "f-model" of A. Mu'alem
// and D. Feitelson, Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling
// the IBM SP2 with Backfilling, IEEE TPDS 12(6), 2001. The request is the next round time, because a
// few round times make up nearly all requests, and at most the queue's maximum, which many users
// request: D. Tsafrir, Y. Etsion, D. Feitelson, Modeling User Runtime Estimates, JSSPP 2005.
type Estimates struct {
	Factor float64       // f, at least 0; 0 means 4
	Max    time.Duration // the queue's maximum; 0: none
}

// Request draws the wall time requested by a job with the given run time. It is at least the run
// time, or the queue's maximum if that is less.
func (m Estimates) Request(run time.Duration, rng *rand.Rand) time.Duration {
	f := m.Factor
	if f == 0 {
		f = estimateFactor
	}
	request := roundUp(max(run, duration(run.Seconds()*(1+f*rng.Float64()))))
	if m.Max > 0 {
		return min(request, m.Max)
	}
	return request
}

// Apply draws a request for every job, each from one number of rng.
func (m Estimates) Apply(jobs []Rigid, rng *rand.Rand) {
	for i := range jobs {
		jobs[i].Request = m.Request(jobs[i].Run, rng)
	}
}

// roundUp returns the shortest round time that is at least d.
func roundUp(d time.Duration) time.Duration {
	const day = 24 * time.Hour
	if i, _ := slices.BinarySearch(popular, d); i < len(popular) {
		return popular[i]
	}
	return (d + day - 1) / day * day
}
