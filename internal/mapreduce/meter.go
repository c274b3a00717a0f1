package mapreduce

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"berth/internal/job"
	"berth/internal/probe"
)

// runProgram runs a program between streams of ours, or lets the records pass
// directly where it would hand them on as they are. The CPU time of a native one is
// told here, where it runs, so that its streams need not tell theirs.
func runProgram(ctx context.Context, p Program, prog Progress, in io.Reader, out io.ReaderFrom) error {
	if IsIdentity(p) {
		_, err := out.ReadFrom(in)
		return err
	}
	cpu := prog.CPU
	if !isNative(p) {
		cpu = nil
	}
	return probe.Metered(cpu, func() error { return p.Run(ctx, in, out.(io.Writer)) })
}

// cpuOf returns who is told the time that the streams of p take; nil for a native program,
// whose own time is all of it.
func cpuOf(p Program, prog Progress) func(time.Duration) {
	if isNative(p) {
		return nil
	}
	return prog.CPU
}

// isNative reports whether p runs on the goroutine that calls its Run.
func isNative(p Program) bool {
	_, ok := p.(aggregate)
	return ok
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

// counters are told once, when an attempt has done its work, so that what was done
// twice for a damaged input counts once.
type counters map[string]int64

func (c counters) tell(prog Progress) {
	for name, n := range c {
		prog.Counter(job.TaskCounterGroup, name, n)
	}
}
