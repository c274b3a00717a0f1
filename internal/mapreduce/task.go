package mapreduce

import (
	"context"
	"io"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/hadoop"
	"berth/internal/mapreduce/input"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/sys/probe"
)

// Program turns a stream of input lines into a stream of output lines. It is a streaming command, which
// the worker provides, or a native program (Native). A nil Program is the identity: records pass
// unchanged.
type Program interface {
	// Run reads in, to its end or less, and writes to out. It returns when the program has ended, and
	// does not use in and out afterwards. An error of in or out is returned unchanged. Any other error
	// is a failure of the program. Reads and writes should be large, about 256 KiB.
	Run(ctx context.Context, in io.Reader, out io.Writer) error
}

// Progress receives what a task does while the task runs. Its methods are called by several goroutines.
type Progress interface {
	Enter(p job.Phase)                   // the phase begins and the one before it ends; PhaseNone: the attempt waits
	In(bytes, records int64)             // read by the current phase
	Out(bytes, records int64)            // written by the current phase
	Spent(s probe.Spent)                 // by berth's own threads for the current phase
	Net(bytes int64)                     // fetched from other nodes
	Waited(d time.Duration)              // the current phase had nothing to do for this time
	Memory(bytes int64)                  // used now by the current phase
	Total(bytes int64)                   // input that the current phase will read, if it is known
	Counter(group, name string, n int64) // adds n to a job counter
}

// Task describes an attempt of either kind.
type Task struct {
	Spec      *job.MapReduceSpec
	Attempt   job.Attempt
	Combiner  Program        // nil: none
	Supply    extsort.Supply // of memory and open files
	MaxRecord int            // bytes of the longest record (extsort.RecordLimit)
	Dir       string         // scratch folder of the attempt; created if it is missing
	Left      string         // folder that receives the part file
	Progress  Progress
	// Enter begins a phase after the first one (Progress.Enter) once the attempt has a grant for it. If the attempt has to wait for that, idle is
	// called before, and the attempt is in no phase meanwhile, so that the measurements of a phase cover only the time in which it runs.
	Enter func(p job.Phase, idle func()) error
}

// newSpace returns the space in which the attempt sorts. partition is that of the combiner's output.
func (t *Task) newSpace(ctx context.Context, partitions int, order hadoop.Comparator, partition hadoop.Partitioner, c counters) (*extsort.Space, error) {
	return extsort.NewSpace(ctx, extsort.Config{
		Dir: t.Dir, Partitions: partitions, Order: order, Supply: t.Supply, MaxRecord: t.MaxRecord, Progress: t.Progress,
		Combiner: newCombiner(ctx, t.Combiner, t.Spec, partition, t.Progress, c),
	})
}

// MapTask describes a map attempt. Without reduces its output is a part file in Left.
type MapTask struct {
	Task
	Split      job.Split
	Open       input.Opener // opens the files of the split; nil: they are read from this machine's file systems
	Partitions int          // number of reduces; 0: map-only
	Mapper     Program
	Outputs    *shuffle.Store // receives the map output; on the same file system as Dir; unused if map-only
}

// ReduceTask describes a reduce attempt. The combiner runs between merge passes.
type ReduceTask struct {
	Task
	Partition int
	Maps      int // number of map tasks: segments to fetch
	Reducer   Program
	Source    shuffle.Source // of segments
}

// enter begins a phase of an attempt. If the attempt has to wait for a grant, it releases the memory of its
// space meanwhile, as the memory contains no data between phases. space may be nil.
func (t *Task) enter(space *extsort.Space, p job.Phase) error {
	if err := t.Enter(p, space.Release); err != nil || space == nil {
		return err
	}
	return space.Hold()
}
