package mapreduce

import (
	"context"
	"io"
	"time"

	"berth/internal/job"
)

// Program turns a stream of input records into a stream of output records, lines
// both: a streaming command (the worker's) or a native program (Native).
type Program interface {
	// Run reads in to its end or until it wants no more, and writes out. It returns
	// when the program has ended, and no longer uses in and out then. An error is the
	// program's failure. Large inputs go faster with in as an io.WriterTo and out as an
	// io.ReaderFrom, which io.Copy uses.
	Run(ctx context.Context, in io.Reader, out io.Writer) error
}

// Progress is told what a task does while it does it. Calls come from several goroutines.
type Progress interface {
	Enter(p job.Phase)                   // the phase begins, the one before it ends
	In(bytes, records int64)             // read by the current phase
	Out(bytes, records int64)            // written by the current phase
	CPU(d time.Duration)                 // used by berth's own threads for the current phase
	Memory(bytes int64)                  // held now for the current phase
	Total(bytes int64)                   // input the current phase will read, where it is known
	Counter(group, name string, n int64) // adds n to a job counter
}

// MapTask is one map attempt: its input, where its output goes, and with what.
type MapTask struct {
	Spec       *job.MapReduceSpec
	Attempt    job.Attempt
	Split      job.Split
	Partitions int // number of reduces; 0: map-only
	Mapper     Program
	Combiner   Program  // nil: none
	Memory     int64    // bytes that the attempt may use for its buffers
	Files      int      // files that its merges may hold open; 0: MaxFanIn
	Dir        string   // scratch folder of the attempt; made if missing
	Outputs    *Outputs // where the map output goes, on the same file system as Dir; unused if map-only
	Progress   Progress
}

// ReduceTask is one reduce attempt.
type ReduceTask struct {
	Spec      *job.MapReduceSpec
	Attempt   job.Attempt
	Partition int
	Maps      int // number of map tasks: segments to fetch
	Reducer   Program
	Combiner  Program // used between merge passes; nil: none
	Memory    int64   // bytes that the attempt may use for its buffers
	Files     int     // files that its merges may hold open; 0: MaxFanIn
	Dir       string  // scratch folder of the attempt
	Segments  Segments
	Progress  Progress
	// Leave is asked before the phases sort and reduce; it blocks until the phase may begin.
	Leave func(ctx context.Context, p job.Phase) error

	fetchWait time.Duration // before a failed fetch is tried again; 0: fetchWait
}

// Segments finds the map outputs a reduce needs.
type Segments interface {
	// Next blocks until the location of a map output that was not yet returned, or was
	// returned and then reported bad, is known.
	Next(ctx context.Context) (Location, error)
	// Bad says that the segment could not be fetched or is damaged; its map will be located anew.
	Bad(loc Location, err error)
	// Open opens the partition's segment of a map output: the local file, or a stream from its holder.
	Open(ctx context.Context, loc Location, partition int) (Segment, error)
}

// Location is where the output of a map attempt is.
type Location struct {
	Map     job.Attempt
	Holder  job.NodeID
	Addr    string // where Holder serves it
	Outputs string // Holder's store (OutputsIn), where it can be read from here; empty: it cannot
}

// Segment is one partition of one map output: for a local output a part of its
// file (Path set; nothing is copied), else a stream in the same format.
type Segment struct {
	Path   string        // local file; empty: use Body
	Offset int64         // in Path
	Length int64         // bytes, compressed
	Body   io.ReadCloser // remote
}
