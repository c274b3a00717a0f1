package mapreduce

import (
	"sync/atomic"

	"berth/internal/core/job"
)

// inputCount is a Progress that also counts the records read.
type inputCount struct {
	Progress
	records atomic.Int64
}

func (c *inputCount) In(bytes, records int64) {
	c.records.Add(records)
	c.Progress.In(bytes, records)
}

// counters are job counters of an attempt. They are reported once, when the attempt has succeeded, so
// that work that was repeated because of damaged data counts once.
type counters map[string]int64

func (c counters) report(prog Progress) {
	for name, n := range c {
		prog.Counter(job.TaskCounterGroup, name, n)
	}
}
