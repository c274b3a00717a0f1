package mapreduce

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
)

// metered runs f with the goroutine held to its thread, and tells prog the CPU time
// of the thread: at each call of lap, and at the end.
func metered(prog Progress, f func(lap func()) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	last := threadCPU()
	lap := func() {
		now := threadCPU()
		prog.CPU(now - last)
		last = now
	}
	defer lap()
	return f(lap)
}

// runProgram runs a program between streams of ours. The CPU time of a native one is
// told here, where it runs, so that its streams need not tell theirs.
func runProgram(ctx context.Context, p Program, prog Progress, in io.Reader, out io.Writer) error {
	if !isNative(p) {
		return p.Run(ctx, in, out)
	}
	return metered(prog, func(func()) error { return p.Run(ctx, in, out) })
}

// isNative reports whether p runs on the calling goroutine.
func isNative(p Program) bool {
	switch p.(type) {
	case identity, *aggregate:
		return true
	default:
		return false
	}
}

// inputCount passes progress on and counts the records read.
type inputCount struct {
	Progress
	records atomic.Int64
}

func (c *inputCount) In(bytes, records int64) {
	c.records.Add(records)
	c.Progress.In(bytes, records)
}

// counterGroup is the group of Hadoop's own counters for tasks.
const counterGroup = "org.apache.hadoop.mapreduce.TaskCounter"

// counters are told once, when an attempt has done its work, so that what was done
// twice for a damaged input counts once.
type counters map[string]int64

func (c counters) tell(prog Progress) {
	for name, n := range c {
		prog.Counter(counterGroup, name, n)
	}
}
