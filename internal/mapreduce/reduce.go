package mapreduce

import (
	"context"
	"errors"
	"os"
	"syscall"

	"berth/internal/job"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/probe"
)

// ReduceResult is what a reduce attempt made: a part file that is closed and not yet committed.
type ReduceResult struct {
	Output *Output
}

// RunReduce runs a reduce attempt: the partition's segments are brought together
// (phase shuffle), merged until one pass over them remains (phase sort), and that
// pass goes through the reducer into a part file (phase reduce). Leave is asked
// before the last two.
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
		if err := r.shuffle.collect(ctx); err != nil {
			return ReduceResult{}, err
		}
		out, err := r.reduce()
		if err == nil {
			r.counters["REDUCE_SHUFFLE_BYTES"] = r.shuffle.bytes
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
	space    *scratchSpace // from the phase sort on: a reduce that waits for maps takes no memory from them
	shuffle  *shuffle
	cmp      hadoop.Comparator
	phase    job.Phase
	faults   int // own files found damaged
	counters counters
}

func newReduceRun(ctx context.Context, t *ReduceTask) (*reduceRun, error) {
	cmp, err := hadoop.NewComparator(t.Spec)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, scratchError(t.Dir, err)
	}
	return &reduceRun{
		ctx: ctx, t: t, shuffle: newShuffle(Gathering{Segments: t.Segments, Partition: t.Partition, Maps: t.Maps, Dir: t.Dir, Progress: t.Progress, Wait: t.FetchWait}), cmp: cmp, phase: job.PhaseShuffle, counters: counters{},
	}, nil
}

// enter asks leave for a phase and begins it, the first time.
func (r *reduceRun) enter(p job.Phase) error {
	if r.phase >= p {
		return nil
	}
	if err := r.t.Leave(r.ctx, p); err != nil {
		return err
	}
	r.phase = p
	r.t.Progress.Enter(p)
	if r.space == nil {
		var err error
		r.space, err = newScratchSpace(r.ctx, r.t.Dir, 1, r.cmp, r.t.Memory, r.t.Files, r.t.Progress)
		return err
	}
	r.space.uses(0)
	return nil
}

// close gives the memory back.
func (r *reduceRun) close() {
	if r.space != nil {
		r.space.close()
	}
}

// maxFaults is how often an attempt's own scratch files may be damaged before it fails.
const maxFaults = 3

// mend makes ready for another merge after err, or returns what the attempt fails with.
func (r *reduceRun) mend(err error) error {
	var bad *runError
	if !errors.As(err, &bad) || r.ctx.Err() != nil {
		return err
	}
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, scarce) {
			return err // the file is not to blame
		}
	}
	if r.shuffle.lose(bad.run, bad) {
		return nil
	}
	if r.faults++; r.faults > maxFaults {
		return &job.Error{
			Class: job.Fatal, Code: job.CodeIO, Where: r.t.Dir,
			What: "scratch files come back damaged", Do: "have the disk checked, or name another folder with --scratch", Err: bad.err,
		}
	}
	return nil
}

// reduce merges the segments into a part file.
func (r *reduceRun) reduce() (*Output, error) {
	if err := r.enter(job.PhaseSort); err != nil {
		return nil, err
	}
	var runs []*sortedRun
	err := probe.Metered(r.t.Progress.CPU, func() (err error) {
		runs, err = r.sort(r.shuffle.runs())
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := r.enter(job.PhaseReduce); err != nil {
		return nil, err
	}
	return r.output(runs)
}

// output merges runs through the reducer into a part file, and closes that.
func (r *reduceRun) output(runs []*sortedRun) (*Output, error) {
	out, err := NewOutput(r.t.Spec, r.t.Attempt, partName(r.t.Partition))
	if err != nil {
		return nil, err
	}
	if err := r.runReducer(runs, out); err != nil {
		out.Abort()
		return nil, err
	}
	return out, nil
}

// runReducer runs the reducer over the merged runs. Without a record it does not run,
// and the part file is empty: Hadoop Streaming drops what a reducer writes that read nothing.
func (r *reduceRun) runReducer(runs []*sortedRun, out *Output) error {
	var total, records int64
	for _, run := range runs {
		total += run.stat.bytes
		records += run.stat.records
	}
	if records == 0 {
		return out.Close()
	}
	r.t.Progress.Total(total)
	r.space.mem.reset()
	m, err := newMerger(runs, r.cmp, r.space.mem)
	if err != nil {
		return err
	}
	lines := &mergedLines{cmp: r.cmp, tabs: wantsTabs(r.t.Reducer), m: m, next: func() (*merger, error) { return nil, nil }}
	defer lines.close()
	r.space.uses(m.space)

	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	result := newResult(r.t.Reducer, out, hadoop.ReduceFormat(r.t.Spec), r.t.Memory, r.t.Progress, cancel)
	result.from = "reducer"
	in := newStream(ctx, r.t.Reducer, &toldLines{lines, r.t.Progress}, r.t.Progress, cancel)
	if IsIdentity(r.t.Reducer) {
		result.plain = true // records come with TABs already
	}
	err = runProgram(ctx, r.t.Reducer, r.t.Progress, in, result)
	err = programError("reducer", err, in.err, result.err)
	if err == nil {
		err = result.finish()
	}
	r.counters["REDUCE_INPUT_GROUPS"] = lines.groups
	r.counters["REDUCE_INPUT_RECORDS"] = lines.records
	r.counters["REDUCE_OUTPUT_RECORDS"] = result.records
	return err
}

// toldLines tells progress what is read of the lines.
type toldLines struct {
	*mergedLines
	prog Progress
}

func (l *toldLines) Read(p []byte) (int, error) {
	before := l.records
	n, err := l.mergedLines.Read(p)
	l.prog.In(int64(n), l.records-before)
	return n, err
}
