package mapreduce

import (
	"context"
	"io"

	"berth/internal/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/input"
	"berth/internal/probe"
)

// MapResult is what a map attempt made: a map output in the node's store, or with
// no reduces a part file that is closed and not yet committed.
type MapResult struct {
	Size   int64   // bytes of the map output
	Output *Output // map-only
}

// RunMap runs a map attempt: the split goes through the mapper, its output is
// partitioned, sorted and spilled whenever the memory is full (phase map), and the
// spills are merged into one map output (phase merge). Without reduces the mapper's
// output goes straight to a part file. What it writes to t.Dir on the way is gone
// when it succeeds; after an error the caller removes the folder.
func RunMap(ctx context.Context, t MapTask) (MapResult, error) {
	t.Progress.Enter(job.PhaseMap)
	count := &inputCount{Progress: t.Progress}
	in, err := input.OpenSplit(ctx, t.Split, t.Spec, t.Open, count)
	if err != nil {
		return MapResult{}, err
	}
	defer in.Close() // only read
	if t.Partitions == 0 {
		return mapOnly(ctx, &t, in, count)
	}
	c := counters{}
	space, records, err := t.sorting(ctx, c)
	if err != nil {
		return MapResult{}, err
	}
	defer space.Close()
	spills, err := mapAndSpill(ctx, &t, in, space.NewSorter(records), c)
	if err != nil {
		return MapResult{}, err
	}
	if err := t.beginMerge(ctx, space, len(spills)); err != nil {
		return MapResult{}, err
	}
	var one *extsort.File
	err = probe.Metered(t.Progress.Spent, func() error {
		one, err = space.MergeSpills(spills)
		return err
	})
	if err != nil {
		return MapResult{}, err
	}
	if err := t.Outputs.Adopt(t.Attempt, one.Path()); err != nil {
		return MapResult{}, err
	}
	t.Progress.Out(one.Size(), one.Records())
	c["SPILLED_RECORDS"] = space.Spilled()
	c["MAP_INPUT_RECORDS"] = count.records.Load()
	c.tell(t.Progress)
	return MapResult{Size: one.Size()}, nil
}

// beginMerge begins the phase merge. A map that has spilled once has nothing to merge and need not ask for a grant for it.
func (t *MapTask) beginMerge(ctx context.Context, space *extsort.Space, spills int) error {
	if spills > 1 {
		return enter(ctx, t.Grants, t.Progress, space, job.PhaseMerge)
	}
	t.Progress.Enter(job.PhaseMerge)
	space.ReportMemory()
	return nil
}

// sorting returns with what a map attempt sorts, and what its mapper writes.
func (t *MapTask) sorting(ctx context.Context, c counters) (*extsort.Space, extsort.Records, error) {
	partition, err := hadoop.NewPartitioner(t.Spec, t.Partitions)
	if err != nil {
		return nil, extsort.Records{}, err
	}
	order, err := hadoop.NewComparator(t.Spec)
	if err != nil {
		return nil, extsort.Records{}, err
	}
	space, err := extsort.NewSpace(ctx, extsort.Config{
		Dir: t.Dir, Partitions: t.Partitions, Order: order, Supply: t.Supply, MaxRecord: t.MaxRecord, Progress: t.Progress,
		Combiner: newCombiner(ctx, t.Combiner, t.Spec, partition, t.Progress, c),
	})
	return space, extsort.Records{Format: hadoop.MapFormat(t.Spec), Partition: partition, From: "mapper"}, err
}

// mapAndSpill spills what the mapper makes of in.
func mapAndSpill(ctx context.Context, t *MapTask, in io.Reader, out *extsort.Sorter, c counters) ([]*extsort.File, error) {
	defer out.Close()
	var told struct{ lines, bytes int64 }
	tell := func() {
		t.Progress.Out(out.Bytes-told.bytes, out.Lines-told.lines)
		told.bytes, told.lines = out.Bytes, out.Lines
		out.ReportMemory()
	}
	if err := runProgram(ctx, "mapper", t.Mapper, in, sorterOutput{out, tell}, t.Progress.Spent); err != nil {
		return nil, err
	}
	err := probe.Metered(t.Progress.Spent, out.Finish)
	tell()
	c["MAP_OUTPUT_RECORDS"], c["MAP_OUTPUT_BYTES"] = out.Lines, out.Bytes
	return out.Files(), err
}

// mapOnly runs the mapper of a job without reduces.
func mapOnly(ctx context.Context, t *MapTask, in io.Reader, count *inputCount) (MapResult, error) {
	out, err := NewOutput(t.Spec, t.Attempt, partName(t.Attempt.Task))
	if err != nil {
		return MapResult{}, err
	}
	r := newResult("mapper", out, hadoop.MapFormat(t.Spec), hadoop.OutputSeparator(t.Spec), t.MaxRecord, t.Progress)
	if err = runProgram(ctx, "mapper", t.Mapper, in, r, t.Progress.Spent); err == nil {
		err = probe.Metered(t.Progress.Spent, r.finish)
	}
	if err != nil {
		out.Abort()
		return MapResult{}, err
	}
	counters{
		"MAP_INPUT_RECORDS": count.records.Load(), "MAP_OUTPUT_RECORDS": r.records, "MAP_OUTPUT_BYTES": r.bytes,
	}.tell(t.Progress)
	return MapResult{Size: r.bytes, Output: out}, nil
}
