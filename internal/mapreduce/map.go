package mapreduce

import (
	"context"
	"io"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/input"
	"berth/internal/sys/probe"
)

// RunMap runs a map attempt. In the phase map the records of the split pass through the mapper. The
// mapper's output is partitioned, and it is sorted and spilled whenever the memory is full. In the
// phase merge the spills are merged into one map output. In a job without reduces the mapper's output
// is written directly to a part file in t.Left. The scratch files in t.Dir are removed on success; after
// an error the caller removes the folder.
func RunMap(ctx context.Context, t MapTask) error {
	t.Progress.Enter(job.PhaseMap)
	count := &inputCount{Progress: t.Progress}
	in, err := input.OpenSplit(ctx, t.Split, t.Spec, t.Open, count)
	if err != nil {
		return err
	}
	defer in.Close() // only read
	if t.Partitions == 0 {
		return mapOnly(ctx, &t, in, count)
	}
	c := counters{}
	space, records, err := t.sortSpace(ctx, c)
	if err != nil {
		return err
	}
	defer space.Release()
	spills, err := mapAndSpill(ctx, &t, in, space.NewSorter(records), c)
	if err != nil {
		return err
	}
	if err := t.beginMerge(space, len(spills)); err != nil {
		return err
	}
	var one *extsort.File
	err = probe.Metered(t.Progress.Spent, func() error {
		one, err = space.MergeSpills(spills)
		return err
	})
	if err != nil {
		return err
	}
	if err := t.Outputs.Adopt(t.Attempt, one.Path()); err != nil {
		return err
	}
	t.Progress.Out(one.Size(), one.Records())
	c["SPILLED_RECORDS"] = space.Spilled
	c["MAP_INPUT_RECORDS"] = count.records.Load()
	c.report(t.Progress)
	return nil
}

// beginMerge begins the phase merge. A map with one spill has nothing to merge, so it does not ask for a grant.
func (t *MapTask) beginMerge(space *extsort.Space, spills int) error {
	if spills > 1 {
		return t.enter(space, job.PhaseMerge)
	}
	t.Progress.Enter(job.PhaseMerge)
	space.ReportMemory()
	return nil
}

// sortSpace returns the space in which a map attempt sorts, and the description of the mapper's records.
func (t *MapTask) sortSpace(ctx context.Context, c counters) (*extsort.Space, extsort.Records, error) {
	partition, err := hadoop.NewPartitioner(t.Spec, t.Partitions)
	if err != nil {
		return nil, extsort.Records{}, err
	}
	order, err := hadoop.NewComparator(t.Spec)
	if err != nil {
		return nil, extsort.Records{}, err
	}
	space, err := t.newSpace(ctx, t.Partitions, order, partition, c)
	return space, extsort.Records{Format: hadoop.MapFormat(t.Spec), Partition: partition, From: "mapper"}, err
}

// mapAndSpill runs the mapper over in and returns the spills of its output.
func mapAndSpill(ctx context.Context, t *MapTask, in io.ReadCloser, out *extsort.Sorter, c counters) ([]*extsort.File, error) {
	defer out.Close()
	var reported struct{ lines, bytes int64 }
	report := func() {
		t.Progress.Out(out.Bytes-reported.bytes, out.Lines-reported.lines)
		reported.bytes, reported.lines = out.Bytes, out.Lines
		out.ReportMemory()
	}
	if err := t.runMapper(ctx, in, sorterOutput{out, report}); err != nil {
		return nil, err
	}
	err := probe.Metered(t.Progress.Spent, out.Finish)
	report()
	c["MAP_OUTPUT_RECORDS"], c["MAP_OUTPUT_BYTES"] = out.Lines, out.Bytes
	return out.Files(), err
}

// runMapper runs the mapper from in to out. The input is closed, because a mapper may end before it has read a whole file.
func (t *MapTask) runMapper(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	if err := runProgram(ctx, "mapper", t.Mapper, in, out, t.Progress.Spent); err != nil {
		return err
	}
	return in.Close()
}

// mapOnly runs the mapper of a job without reduces.
func mapOnly(ctx context.Context, t *MapTask, in io.ReadCloser, count *inputCount) error {
	out, err := NewOutput(t.Spec, t.Attempt, t.Left, partName(t.Attempt.Task))
	if err != nil {
		return err
	}
	r := newResult("mapper", out, hadoop.MapFormat(t.Spec), hadoop.OutputSeparator(t.Spec), t.MaxRecord, t.Progress)
	if err = t.runMapper(ctx, in, r); err == nil {
		err = probe.Metered(t.Progress.Spent, r.finish)
	}
	if err != nil {
		out.Abort()
		return err
	}
	counters{
		"MAP_INPUT_RECORDS": count.records.Load(), "MAP_OUTPUT_RECORDS": r.records, "MAP_OUTPUT_BYTES": r.bytes,
	}.report(t.Progress)
	return nil
}
