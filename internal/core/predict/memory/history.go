package memory

import (
	"slices"

	"berth/internal/core/job"
)

// Sample is what a task used that was done.
type Sample = job.MemorySample

const (
	window   = job.MemorySamples
	fewest   = 3 // how many samples must be there before they say anything
	unproven = 2 // how many predictions a model must have made before it is used
)

// History is the samples of an application. The zero value has none. It is not safe for concurrent use.
type History struct {
	samples  []Sample          // the latest ones, at most window
	outcomes [models][]outcome // by model, of the samples but the first
}

// outcome is what a sample used in relation to what a model had predicted for it.
type outcome struct {
	ratio  float64 // used / predicted
	weight float64 // predicted bytes × seconds
	time   float64 // seconds
}

// Learn adds the sample of a task that is done. Samples without a peak or a time are ignored.
func (h *History) Learn(s Sample) {
	if s.Peak <= 0 || s.Time <= 0 {
		return
	}
	if len(h.samples) > 0 {
		for m, p := range predict(h.samples, s.Size) {
			seconds := s.Time.Seconds()
			h.outcomes[m] = latest(append(h.outcomes[m], outcome{float64(s.Peak) / p, p * seconds, seconds}))
		}
	}
	h.samples = latest(append(h.samples, s))
}

// latest drops what is older than the window.
func latest[T any](all []T) []T {
	if more := len(all) - window; more > 0 {
		return slices.Delete(all, 0, more)
	}
	return all
}

// First returns how much memory a task with an input of that size is to be given at first, in bytes. known is false as
// long as there are too few samples.
func (h *History) First(size int64) (bytes int64, known bool) {
	c, ok := h.best(size)
	if !ok {
		return 0, false
	}
	return int64(min(c.factor*c.predicted, 2*h.largest())) + 1, true
}

// Limit returns First, rounded.
func (h *History) Limit(size int64) (bytes int64, known bool) {
	bytes, known = h.First(size)
	return Round(bytes), known
}

// largest returns the most that any of the tasks used, in bytes. No first limit is more than twice that.
func (h *History) largest() (most float64) {
	for _, s := range h.samples {
		most = max(most, float64(s.Peak))
	}
	return most
}

// Next returns how much a task is to be given that has run out of failed bytes: what the samples say that such a task can
// use at most, else as much as any task has used, else twice as much.
func (h *History) Next(size, failed int64) int64 {
	least := float64(failed) * 1.05 // a smaller step is hardly another try
	next := 2 * float64(failed)
	fits := func(b float64) bool { return b > least && b < next }
	if c, ok := h.best(size); ok && fits(c.most*c.predicted) {
		next = c.most * c.predicted
	}
	if most := h.largest() * margin; fits(most) {
		next = most
	}
	return int64(max(next, least)) + 1
}
