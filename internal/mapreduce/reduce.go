package mapreduce

import (
	"context"
	"errors"
	"os"
	"syscall"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/sys/probe"
)

// RunReduce runs a reduce attempt. In the phase shuffle it fetches the segments of the partition. In
// the phase sort it merges them until one more merge is enough. In the phase reduce the records of that
// merge pass through the reducer into a part file in t.Left.
//
// If a segment turns out to be damaged, in any phase, RunReduce reports it, fetches it again after its
// map has run again, and repeats the merge with an empty part file. The attempt stays in its phase
// meanwhile.
//
// The caller removes the scratch files in t.Dir.
func RunReduce(ctx context.Context, t ReduceTask) error {
	t.Progress.Enter(job.PhaseShuffle)
	r, err := newReduceRun(ctx, &t)
	if err != nil {
		return err
	}
	defer func() { r.space.Release() }()
	for {
		if err := r.shuffle.Collect(ctx); err != nil {
			return err
		}
		err := r.reduce()
		if err == nil {
			r.counters["REDUCE_SHUFFLE_BYTES"] = r.shuffle.Bytes
			r.counters.report(t.Progress)
			return nil
		}
		if err := r.recover(err); err != nil {
			return err
		}
	}
}

// reduceRun is a reduce attempt.
type reduceRun struct {
	ctx      context.Context
	t        *ReduceTask
	space    *extsort.Space // nil before the phase sort, so that a reduce that waits for maps uses no memory
	shuffle  *shuffle.Collector
	order    hadoop.Comparator
	phase    job.Phase
	faults   int // own files found damaged
	counters counters
}

func newReduceRun(ctx context.Context, t *ReduceTask) (*reduceRun, error) {
	order, err := hadoop.NewComparator(t.Spec)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, extsort.ScratchError(t.Dir, err)
	}
	return &reduceRun{
		ctx: ctx, t: t, shuffle: shuffle.NewCollector(shuffle.Config{
			Source: t.Source, By: t.Attempt, Partition: t.Partition, Maps: t.Maps, Dir: t.Dir, Progress: t.Progress,
		}), order: order, phase: job.PhaseShuffle, counters: counters{},
	}, nil
}

// enter asks for a grant for a phase and begins the phase, unless it has begun before.
func (r *reduceRun) enter(p job.Phase) error {
	if r.phase >= p {
		return nil
	}
	if err := r.t.enter(r.space, p); err != nil {
		return err
	}
	r.phase = p
	if r.space != nil {
		return nil
	}
	space, err := r.t.newSpace(r.ctx, 1, r.order, nil, r.counters)
	if err == nil {
		r.space = space
	}
	return err
}

// maxFaults is how many times an attempt's own scratch files may be damaged before the attempt fails.
const maxFaults = 3

// recover prepares another merge if err is about a damaged or missing file. Otherwise it returns the
// error with which the attempt fails.
func (r *reduceRun) recover(err error) error {
	var bad *extsort.FileError
	if !errors.As(err, &bad) || r.ctx.Err() != nil {
		return err
	}
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return err // the file is not the cause
		}
	}
	if r.shuffle.Lose(bad.File, bad) {
		return nil
	}
	if r.faults++; r.faults > maxFaults {
		return job.IOError(job.Fatal, r.t.Dir, "scratch files were damaged after they were written", bad.Err).Advice("have the disk checked, or name another folder with --scratch")
	}
	return nil
}

// reduce merges the segments into a part file.
func (r *reduceRun) reduce() error {
	if err := r.enter(job.PhaseSort); err != nil {
		return err
	}
	files, err := r.narrow(r.shuffle.Files())
	if err != nil {
		return err
	}
	if err := r.enter(job.PhaseReduce); err != nil {
		return err
	}
	if files, err = r.narrow(files); err != nil { // again, as there may be less memory now
		return err
	}
	out, err := NewOutput(r.t.Spec, r.t.Attempt, r.t.Left, partName(r.t.Partition))
	if err != nil {
		return err
	}
	if err := r.runReducer(files, out); err != nil {
		out.Abort()
		return err
	}
	return nil
}

// narrow merges files until the remaining ones can be merged at once.
func (r *reduceRun) narrow(files []*extsort.File) (left []*extsort.File, err error) {
	err = probe.Metered(r.t.Progress.Spent, func() error {
		left, err = r.space.Narrow(files)
		return err
	})
	return left, err
}

// runReducer runs the reducer over the merged files. If there is no record, the reducer does not run and
// the part file is empty, as Hadoop Streaming drops the output of a reducer that read nothing.
func (r *reduceRun) runReducer(files []*extsort.File, out *Output) error {
	var total, records int64
	for _, f := range files {
		total += f.LineBytes()
		records += f.Records()
	}
	if records == 0 {
		return out.Close()
	}
	r.t.Progress.Total(total)
	lines, err := r.space.Lines(files, wantsTabs(r.t.Reducer))
	if err != nil {
		return err
	}
	defer lines.Close()
	format := hadoop.ReduceFormat(r.t.Spec)
	if r.t.Reducer == nil {
		format = hadoop.RecordFormat(r.t.Spec)
	}
	result := newResult("reducer", out, format, hadoop.OutputSeparator(r.t.Spec), r.t.MaxRecord, r.t.Progress)
	err = runProgram(r.ctx, "reducer", r.t.Reducer, &countedLines{lines, r.t.Progress}, result, r.t.Progress.Spent)
	if err == nil {
		err = probe.Metered(r.t.Progress.Spent, result.finish)
	}
	r.counters["REDUCE_INPUT_GROUPS"] = lines.Groups
	r.counters["REDUCE_INPUT_RECORDS"] = lines.Records()
	r.counters["REDUCE_OUTPUT_RECORDS"] = result.records
	r.counters["SPILLED_RECORDS"] = r.space.Spilled
	return err
}

// countedLines reports to Progress what is read of the lines.
type countedLines struct {
	*extsort.MergedLines
	prog Progress
}

func (l *countedLines) Read(p []byte) (int, error) {
	before := l.Records()
	n, err := l.MergedLines.Read(p)
	l.prog.In(int64(n), l.Records()-before)
	return n, err
}
