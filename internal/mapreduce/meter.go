package mapreduce

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"

	"berth/internal/job"
)

// metered runs f, which should not wait, with the goroutine held to its thread, and
// tells prog the CPU time that took. Without prog it only runs f: the time is metered
// elsewhere. A goroutine that is held while it waits for a pipe costs two switches of
// threads each time, so waiting is left out.
func metered(prog Progress, f func() error) error {
	if prog == nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	err := f()
	prog.CPU(threadCPU() - before)
	return err
}

// runProgram runs a program between streams of ours, or lets the records pass
// directly where it would hand them on as they are. The CPU time of a native one is
// told here, where it runs, so that its streams need not tell theirs.
func runProgram(ctx context.Context, p Program, prog Progress, in io.Reader, out io.ReaderFrom) error {
	if IsIdentity(p) {
		_, err := out.ReadFrom(in)
		return err
	}
	if !isNative(p) {
		prog = nil
	}
	return metered(prog, func() error { return p.Run(ctx, in, out.(io.Writer)) })
}

// isNative reports whether p runs on the goroutine that calls its Run.
func isNative(p Program) bool {
	_, ok := p.(*aggregate)
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
