package event

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds on what a worker tells of an attempt's end, bytes. They are far above what
// workers tell, and so far below MaxSize and the largest message that no attempt's end
// can be too large to be sent or written.
const (
	maxText     = 64 << 10
	maxCounters = 4 << 20
)

// Bounded returns the record, or one that tells why it is too large to be taken: texts
// are cut, and an attempt whose counters are too large has broken its job.
func (r AttemptEnded) Bounded() AttemptEnded {
	r.Reason, r.Stderr = Clip(r.Reason), Clip(r.Stderr)
	size := 0
	for _, name := range slices.Sorted(maps.Keys(r.Counters)) {
		size += len(name) + 16
	}
	if size <= maxCounters {
		return r
	}
	if r.Outcome == Done {
		r.Outcome = Broken
		r.Reason = fmt.Sprintf("the %d counters of the task have %d bytes, more than %d; count by fewer names",
			len(r.Counters), size, maxCounters)
	}
	r.Counters = nil
	return r
}

// Clip cuts a text that came from a worker to what a record may hold.
func Clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
