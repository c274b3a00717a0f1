package shuffle

import (
	"context"
	"io"

	"berth/internal/job"
)

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
