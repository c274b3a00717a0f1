package report

import (
	"math"
	"time"
)

// durations is a sketch of a set of durations: exact count, sum and extremes, and
// quantiles within 1 % (logarithmic buckets as in DDSketch, Masson, Rim and Lee
// 2019, section 2). Its size depends on the spread of the durations, not on their
// number: 16 kB at the very most.
type durations struct {
	n        int
	sum      float64 // seconds
	min, max time.Duration
	low      int      // bucket that counts[0] stands for
	counts   []uint32 // by bucket
}

// gamma is the ratio of a bucket's bounds; quantiles are off by (gamma−1)/(gamma+1) at most.
const gamma = 1.02

var logGamma = math.Log(gamma)

// bucket returns the bucket of d; those of less than a microsecond share one.
func bucket(d time.Duration) int {
	return int(math.Ceil(math.Log(math.Max(d.Seconds()*1e6, 1)) / logGamma))
}

// add takes a duration in. Clocks that were set back give negative ones: they count as 0.
func (d *durations) add(x time.Duration) {
	x = max(x, 0)
	if d.n == 0 || x < d.min {
		d.min = x
	}
	d.max = max(d.max, x)
	d.n++
	d.sum += x.Seconds()
	d.count(bucket(x))
}

func (d *durations) count(b int) {
	switch {
	case len(d.counts) == 0:
		d.low, d.counts = b, []uint32{0}
	case b < d.low:
		d.counts = append(make([]uint32, d.low-b), d.counts...)
		d.low = b
	case b >= d.low+len(d.counts):
		d.counts = append(d.counts, make([]uint32, b-d.low-len(d.counts)+1)...)
	}
	d.counts[b-d.low]++
}

// mean returns the mean in seconds, 0 of none.
func (d *durations) mean() float64 {
	if d.n == 0 {
		return 0
	}
	return d.sum / float64(d.n)
}

// quantile returns the q-quantile in seconds by the nearest-rank rule, 0 of none.
func (d *durations) quantile(q float64) float64 {
	if d.n == 0 {
		return 0
	}
	rank := max(int(math.Ceil(q*float64(d.n))), 1)
	seen := 0
	for i, c := range d.counts {
		if seen += int(c); seen >= rank {
			mid := math.Pow(gamma, float64(d.low+i)) * 2 / (1 + gamma) / 1e6
			if d.low+i <= 0 {
				mid = 0 // less than a microsecond
			}
			return math.Min(math.Max(mid, d.min.Seconds()), d.max.Seconds())
		}
	}
	return d.max.Seconds()
}
