package predict

import (
	"encoding/binary"
	"errors"
	"math"
)

// Accuracy is the relative error of the quantiles of a Sketch.
const Accuracy = 0.01

const (
	gamma = (1 + Accuracy) / (1 - Accuracy) // ratio of a bucket's upper to its lower end

	// tiny is the shortest duration that is distinguished from zero: durations are whole nanoseconds.
	tiny = 1e-9
	// huge is the longest duration that is distinguished from longer ones; about 30,000 years.
	huge = 1e12
)

var logGamma = math.Log(gamma)

// Histogram counts positive values in buckets of equal width on a logarithmic scale: bucket i holds the values in
// (γ^(i−1), γ^i]. It is the store of the DDSketch (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable
// Quantile Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019, section 2).
//
// A reservoir of raw durations would need a random source and weights to be merged, and its content would depend on
// the order in which tasks ended. A histogram has the same counts in any order, so a replayed journal gives the same
// profile, and the counts of runs add up. It needs less than 15 KB for any number of tasks and some hundred bytes for
// usual ones.
type Histogram struct {
	zero    int64 // values below tiny
	buckets       // neither the first nor the last count is 0
}

// bucketOf returns the index of the bucket that v ≥ tiny falls in.
func bucketOf(v float64) int { return int(math.Ceil(math.Log(min(v, huge)) / logGamma)) }

// middleOf returns the value that represents a bucket: its relative distance from each value of the bucket is at most
// Accuracy.
func middleOf(i int) float64 { return 2 * math.Exp(float64(i)*logGamma) / (gamma + 1) }

// add counts a value n times.
func (h *Histogram) add(v float64, n int64) {
	if v < tiny {
		h.zero += n
		return
	}
	h.count(bucketOf(v), n)
}

func (h *Histogram) merge(o *Histogram) {
	h.zero += o.zero
	h.buckets.merge(&o.buckets)
}

// total returns the number of values.
func (h *Histogram) total() int64 { return h.zero + h.buckets.total() }

// at returns the value of the given rank, counted from 0 in ascending order.
func (h *Histogram) at(rank float64) float64 {
	seen := h.zero
	if float64(seen) > rank {
		return 0
	}
	for i, c := range h.counts {
		if seen += c; float64(seen) > rank {
			return middleOf(h.base + i)
		}
	}
	return middleOf(h.base + len(h.counts) - 1)
}

// errHistogram is the error of UnmarshalBinary for bytes that MarshalBinary did not write.
var errHistogram = errors.New("malformed histogram")

// histogramVersion is the first byte of an encoded histogram.
const histogramVersion = 1

// MarshalBinary encodes the histogram: a version byte, then as varints the count
// of zeros, the first bucket's index, the number of buckets and their counts.
func (h *Histogram) MarshalBinary() ([]byte, error) {
	b := append(make([]byte, 0, 16+2*len(h.counts)), histogramVersion)
	b = binary.AppendUvarint(b, uint64(h.zero))
	return h.appendCounts(binary.AppendVarint(b, int64(h.base))), nil
}

// UnmarshalBinary decodes what MarshalBinary encoded.
func (h *Histogram) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != histogramVersion {
		return errHistogram
	}
	r := varints{b: b[1:]}
	got := Histogram{zero: r.count(), buckets: buckets{base: r.index()}}
	got.counts = r.counts()
	if r.bad || len(r.b) != 0 || !got.sound() {
		return errHistogram
	}
	*h = got
	return nil
}

// sound reports whether add and merge could have made a decoded histogram.
func (h *Histogram) sound() bool {
	if len(h.counts) == 0 {
		return h.base == 0
	}
	sum := h.zero
	for _, c := range h.counts {
		if sum += c; sum < 0 {
			return false
		}
	}
	last := len(h.counts) - 1
	return h.base >= bucketOf(tiny) && h.base+last <= bucketOf(huge) && h.counts[0] > 0 && h.counts[last] > 0
}
