package mapreduce

import (
	"sync/atomic"

	"berth/internal/job"
)

// inputCount passes progress on and counts the records read.
type inputCount struct {
	Progress
	records atomic.Int64
}

func (c *inputCount) In(bytes, records int64) {
	c.records.Add(records)
	c.Progress.In(bytes, records)
}

// counters are told once, when an attempt has done its work, so that what was done
// twice for a damaged input counts once.
type counters map[string]int64

func (c counters) tell(prog Progress) {
	for name, n := range c {
		prog.Counter(job.TaskCounterGroup, name, n)
	}
}
