package shuffle

import (
	"io"

	"berth/internal/wire"
)

// Location says where the output of a map attempt is, and in which folder the holder's store is if this machine can read it.
type Location = wire.Locate

// Segment is one partition of one map output. A local segment is a part of a file, which is not copied
// (Path is set). A remote segment is a stream in the same format (Body is set).
type Segment struct {
	Path   string        // local file; empty: use Body
	Offset int64         // in Path
	Length int64         // bytes, compressed
	Body   io.ReadCloser // remote
}
