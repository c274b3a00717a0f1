package event

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds on texts and counters of an attempt's end, in bytes. They are far above what workers
// send, and so far below MaxSize and the largest message that every attempt's end can be
// sent and written.
const (
	maxText     = 64 << 10
	maxCounters = 4 << 20
)

// MaxBeside is how many files the end of an attempt names that were not put into place.
const MaxBeside = 8

// Bounded returns a record that is small enough: texts are cut, and an attempt with too
// many counters breaks its job, with the reason in the record.
func (r AttemptEnded) Bounded() AttemptEnded {
	r.Reason, r.Stderr, r.Left, r.Warning = Clip(r.Reason), Clip(r.Stderr), Clip(r.Left), Clip(r.Warning)
	r.Beside = r.Beside[:min(len(r.Beside), MaxBeside)]
	names := 0
	for i, name := range r.Outputs {
		if names += len(name); names > maxText {
			r.Outputs = r.Outputs[:i]
			break
		}
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(r.Counters)) {
		size += len(name) + 16
	}
	if size <= maxCounters {
		return r
	}
	if r.Outcome == Done {
		r.Outcome = Broken
		r.Reason = fmt.Sprintf("the %d counters of the task have %d bytes of names; at most %d are allowed",
			len(r.Counters), size, maxCounters)
	}
	r.Counters = nil
	return r
}

// Clip cuts a text from a worker to the size that a record may hold.
func Clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
