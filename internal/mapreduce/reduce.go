package mapreduce

import (
	"context"
	"errors"
	"os"
	"syscall"

	"berth/internal/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/probe"
)

// ReduceResult is what a reduce attempt made: a part file that is closed and not yet committed.
type ReduceResult struct {
	Output *Output
}

// RunReduce runs a reduce attempt: the partition's segments are brought together
// (phase shuffle), merged until one pass over them remains (phase sort), and that
// pass goes through the reducer into a part file (phase reduce).
//
// A segment that turns out to be damaged at any time is reported, fetched anew from
// where its map ran again, and the merge starts over with an empty part file; the
// attempt stays in its phase meanwhile.
//
// What it writes to t.Dir is left to the caller to remove.
func RunReduce(ctx context.Context, t ReduceTask) (ReduceResult, error) {
	t.Progress.Enter(job.PhaseShuffle)
	r, err := newReduceRun(ctx, &t)
	if err != nil {
		return ReduceResult{}, err
	}
	defer r.close()
	for {
		if err := r.shuffle.Collect(ctx); err != nil {
			return ReduceResult{}, err
		}
		out, err := r.reduce()
		if err == nil {
			r.counters["REDUCE_SHUFFLE_BYTES"] = r.shuffle.Bytes
			r.counters.tell(t.Progress)
			return ReduceResult{Output: out}, nil
		}
		if err := r.mend(err); err != nil {
			return ReduceResult{}, err
		}
	}
}

// reduceRun is a reduce attempt.
type reduceRun struct {
	ctx      context.Context
	t        *ReduceTask
	space    *extsort.Space // from the phase sort on: a reduce that waits for maps takes no memory from them
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
			Source: t.Source, By: t.Attempt, Partition: t.Partition, Maps: t.Maps, Pace: t.Pace, Dir: t.Dir, Progress: t.Progress,
		}), order: order, phase: job.PhaseShuffle, counters: counters{},
	}, nil
}

// enter asks for a grant for a phase and begins it, the first time.
func (r *reduceRun) enter(p job.Phase) error {
	if r.phase >= p {
		return nil
	}
	if err := enter(r.ctx, r.t.Grants, r.t.Progress, r.space, p); err != nil {
		return err
	}
	r.phase = p
	if r.space != nil {
		return nil
	}
	space, err := extsort.NewSpace(r.ctx, extsort.Config{
		Dir: r.t.Dir, Partitions: 1, Order: r.order, Supply: r.t.Supply, MaxRecord: r.t.MaxRecord, Progress: r.t.Progress,
		Combiner: newCombiner(r.ctx, r.t.Combiner, r.t.Spec, nil, r.t.Progress, r.counters),
	})
	if err == nil {
		r.space = space
	}
	return err
}

// close gives the memory back.
func (r *reduceRun) close() {
	if r.space != nil {
		r.space.Close()
	}
}

// maxFaults is how often an attempt's own scratch files may be damaged before it fails.
const maxFaults = 3

// mend makes ready for another merge after err, or returns what the attempt fails with.
func (r *reduceRun) mend(err error) error {
	var bad *extsort.FileError
	if !errors.As(err, &bad) || r.ctx.Err() != nil {
		return err
	}
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return err // the file is not to blame
		}
	}
	if r.shuffle.Lose(bad.File, bad) {
		return nil
	}
	if r.faults++; r.faults > maxFaults {
		return &job.Error{
			Class: job.Fatal, Code: job.CodeIO, Where: r.t.Dir,
			What: "scratch files come back damaged", Do: "have the disk checked, or name another folder with --scratch", Err: bad.Err,
		}
	}
	return nil
}

// reduce merges the segments into a part file.
func (r *reduceRun) reduce() (*Output, error) {
	if err := r.enter(job.PhaseSort); err != nil {
		return nil, err
	}
	files, err := r.narrow(r.shuffle.Files())
	if err != nil {
		return nil, err
	}
	if err := r.enter(job.PhaseReduce); err != nil {
		return nil, err
	}
	if files, err = r.narrow(files); err != nil { // where there is less memory than there was
		return nil, err
	}
	out, err := NewOutput(r.t.Spec, r.t.Attempt, partName(r.t.Partition))
	if err != nil {
		return nil, err
	}
	if err := r.runReducer(files, out); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

// narrow merges files until one pass over those that are left is possible.
func (r *reduceRun) narrow(files []*extsort.File) (left []*extsort.File, err error) {
	err = probe.Metered(r.t.Progress.Spent, func() error {
		left, err = r.space.Narrow(files)
		return err
	})
	return left, err
}

// runReducer runs the reducer over the merged files. Without a record it does not run,
// and the part file is empty: Hadoop Streaming drops what a reducer writes that read nothing.
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
	err = runProgram(r.ctx, "reducer", r.t.Reducer, &toldLines{lines, r.t.Progress}, result, r.t.Progress.Spent)
	if err == nil {
		err = probe.Metered(r.t.Progress.Spent, result.finish)
	}
	r.counters["REDUCE_INPUT_GROUPS"] = lines.Groups()
	r.counters["REDUCE_INPUT_RECORDS"] = lines.Records()
	r.counters["REDUCE_OUTPUT_RECORDS"] = result.records
	r.counters["SPILLED_RECORDS"] = r.space.Spilled()
	return err
}

// toldLines tells progress what is read of the lines.
type toldLines struct {
	*extsort.MergedLines
	prog Progress
}

func (l *toldLines) Read(p []byte) (int, error) {
	before := l.Records()
	n, err := l.MergedLines.Read(p)
	l.prog.In(int64(n), l.Records()-before)
	return n, err
}
