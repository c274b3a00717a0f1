package workload

import (
	"math/rand/v2"
	"slices"
	"time"
)

// estimateFactor is f where none is given: a job then uses 41 % of its estimate on average
// before that is rounded (ln(1+f)/f), about as in logs of HPC clusters.
const estimateFactor = 4

// popular are round times up to a day; beyond it, whole days are.
var popular = []time.Duration{
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour, 6 * time.Hour, 8 * time.Hour, 10 * time.Hour,
	12 * time.Hour, 15 * time.Hour, 18 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// Estimates is a model of the wall times that users ask for, from how long their jobs run.
//
// A job that runs for r is thought to run for r·(1 + f·U), U uniform in [0, 1): the "f-model"
// of A. Mu'alem and D. Feitelson, Utilization, Predictability, Workloads, and User Runtime
// Estimates in Scheduling the IBM SP2 with Backfilling, IEEE TPDS 12(6), 2001. What is asked
// for is the next round time from there on, as a few round times make up nearly all that
// users ask for, and no more than the queue takes, which many ask for: D. Tsafrir, Y. Etsion,
// D. Feitelson, Modeling User Runtime Estimates, JSSPP 2005.
type Estimates struct {
	Factor float64       // f, at least 0; 0 is 4
	Max    time.Duration // that the queue takes; 0: any
}

// Request draws the wall time that is asked for by a job that runs for so long. It is at
// least that, unless the queue does not take as much: then it is the queue's maximum.
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

// Apply gives every job a drawn request, each from one number of rng.
func (m Estimates) Apply(jobs []Rigid, rng *rand.Rand) {
	for i := range jobs {
		jobs[i].Request = m.Request(jobs[i].Run, rng)
	}
}

// roundUp returns the first round time that is not shorter.
func roundUp(d time.Duration) time.Duration {
	const day = 24 * time.Hour
	if i, _ := slices.BinarySearch(popular, d); i < len(popular) {
		return popular[i]
	}
	return (d + day - 1) / day * day
}
