package shuffle

import (
	"io"

	"berth/internal/job"
)

// Location is where the output of a map attempt is.
type Location struct {
	Map     job.Attempt
	Holder  job.NodeID
	Addr    string // where Holder serves it
	Outputs string // Holder's store (StoreIn), where it can be read from here; empty: it cannot
}

// Segment is one partition of one map output: for a local output a part of its
// file (Path set; nothing is copied), else a stream in the same format.
type Segment struct {
	Path   string        // local file; empty: use Body
	Offset int64         // in Path
	Length int64         // bytes, compressed
	Body   io.ReadCloser // remote
}
