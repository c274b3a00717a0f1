package mapreduce

import (
	"context"
	"io"
	"time"

	"berth/internal/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/input"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/probe"
)

// Program turns a stream of input records into a stream of output records, lines
// both: a streaming command (the worker's) or a native program (Native). Nil stands for the
// identity: records are handed on as they are, without a program between.
type Program interface {
	// Run reads in to its end or until it wants no more, and writes out. It returns
	// when the program has ended, and no longer uses in and out then. An error of in or
	// out, which are ours, is returned as it is; any other is the program's failure.
	// Reads and writes should be large, some 256 KiB.
	Run(ctx context.Context, in io.Reader, out io.Writer) error
}

// Progress is told what a task does while it does it. Calls come from several goroutines.
type Progress interface {
	Enter(p job.Phase)                   // the phase begins, the one before it ends; PhaseNone: the attempt waits
	In(bytes, records int64)             // read by the current phase
	Out(bytes, records int64)            // written by the current phase
	Spent(s probe.Spent)                 // by berth's own threads for the current phase
	Net(bytes int64)                     // fetched from other nodes
	Waited(d time.Duration)              // of the current phase, when there was nothing to do
	Memory(bytes int64)                  // held now for the current phase
	Total(bytes int64)                   // input the current phase will read, where it is known
	Counter(group, name string, n int64) // adds n to a job counter
}

// MapTask is one map attempt: its input, where its output goes, and with what.
type MapTask struct {
	Spec       *job.MapReduceSpec
	Attempt    job.Attempt
	Split      job.Split
	Open       input.Opener // of the split's files; nil: this machine sees them
	Partitions int          // number of reduces; 0: map-only
	Mapper     Program
	Combiner   Program        // nil: none
	Supply     extsort.Supply // of memory and open files
	MaxRecord  int            // bytes of the longest record (extsort.RecordLimit)
	Dir        string         // scratch folder of the attempt; made if missing
	Outputs    *shuffle.Store // where the map output goes, on the same file system as Dir; unused if map-only
	Progress   Progress
	Grants     Grants
}

// ReduceTask is one reduce attempt.
type ReduceTask struct {
	Spec      *job.MapReduceSpec
	Attempt   job.Attempt
	Partition int
	Maps      int // number of map tasks: segments to fetch
	Reducer   Program
	Combiner  Program        // used between merge passes; nil: none
	Supply    extsort.Supply // of memory and open files
	MaxRecord int            // bytes of the longest record (extsort.RecordLimit)
	Dir       string         // scratch folder of the attempt
	Source    shuffle.Source // of segments
	Pace      *shuffle.Pace  // of what it fetches from other nodes; nil: no limit
	Progress  Progress
	Grants    Grants
}

// Grants is what an attempt needs for each phase but its first.
type Grants interface {
	// Covers reports whether the attempt may begin the phase without asking.
	Covers(p job.Phase) bool
	// Await asks for a grant for the phase and blocks until the attempt may begin it.
	Await(ctx context.Context, p job.Phase) error
}

// enter begins a phase of an attempt. An attempt that has to wait for a grant gives the memory of its space
// back meanwhile, which holds no data between phases; and while it waits it is in no phase, so that what
// is measured of a phase is what it takes while it runs. space is nil where there is none yet.
func enter(ctx context.Context, grants Grants, prog Progress, space *extsort.Space, p job.Phase) error {
	if !grants.Covers(p) {
		if space != nil {
			space.Release()
		}
		prog.Enter(job.PhaseNone)
		if err := grants.Await(ctx, p); err != nil {
			return err
		}
	}
	prog.Enter(p)
	if space == nil {
		return nil
	}
	return space.Hold()
}
