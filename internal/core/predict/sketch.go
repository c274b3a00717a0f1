package predict

import "math"

// Sketch summarizes many durations: their exact count, sum and extremes, and a histogram for quantiles. Sketches of
// several runs merge into one. The zero Sketch is empty and ready to use.
type Sketch struct {
	Count     int64
	Sum       float64 // seconds
	SumSq     float64 // seconds²
	Min, Max  float64 // seconds
	Histogram Histogram
}

// Add counts one duration in seconds. A negative duration or NaN, which a clock that was set back would give, counts
// as 0.
func (s *Sketch) Add(seconds float64) {
	if !(seconds > 0) {
		seconds = 0
	}
	if s.Count == 0 || seconds < s.Min {
		s.Min = seconds
	}
	s.Max = max(s.Max, seconds)
	s.Count++
	s.Sum += seconds
	s.SumSq += seconds * seconds
	s.Histogram.add(seconds, 1)
}

// Merge adds the durations of o.
func (s *Sketch) Merge(o *Sketch) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	s.Max = max(s.Max, o.Max)
	s.Count += o.Count
	s.Sum += o.Sum
	s.SumSq += o.SumSq
	s.Histogram.merge(&o.Histogram)
}

// values yields the durations, as well as the histogram tells them, and how many there are of each.
func (s *Sketch) values(yield func(seconds float64, n int64) bool) {
	if zero := s.Histogram.zero; zero > 0 && !yield(s.Min, zero) {
		return
	}
	for i, n := range s.Histogram.counts {
		if n > 0 && !yield(min(max(middleOf(s.Histogram.base+i), s.Min), s.Max), n) {
			return
		}
	}
}

// Mean returns the mean in seconds, 0 without durations.
func (s *Sketch) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / float64(s.Count)
}

// StdDev returns the standard deviation of the durations in seconds.
func (s *Sketch) StdDev() float64 {
	if s.Count == 0 {
		return 0
	}
	mean := s.Mean()
	return math.Sqrt(max(0, s.SumSq/float64(s.Count)-mean*mean))
}

// Quantile returns the q-quantile of the durations in seconds, within Accuracy; the extremes are exact.
func (s *Sketch) Quantile(q float64) float64 {
	switch {
	case s.Count == 0:
		return 0
	case q <= 0:
		return s.Min
	case q >= 1:
		return s.Max
	}
	return min(max(s.Histogram.at(q*float64(s.Count-1)), s.Min), s.Max)
}

// NearestRank returns the q-quantile in seconds by the nearest-rank rule, within Accuracy: the least duration that at
// least the fraction q do not exceed. With few durations it is the percentile that people expect.
func (s *Sketch) NearestRank(q float64) float64 {
	if s.Count == 0 {
		return 0
	}
	rank := math.Ceil(q*float64(s.Count)) - 1
	return min(max(s.Histogram.at(rank), s.Min), s.Max)
}

// Sound reports whether the parts of a decoded sketch are consistent.
func (s *Sketch) Sound() bool {
	finite := !math.IsNaN(s.Sum+s.SumSq+s.Min+s.Max) && !math.IsInf(s.Sum+s.SumSq+s.Max, 0)
	return s.Count >= 0 && finite && s.Min >= 0 && s.Min <= s.Max && s.Sum >= 0 && s.Histogram.total() == s.Count
}
