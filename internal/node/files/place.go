package files

import (
	"context"
	"time"

	"berth/internal/sys/disk"
)

// Place is where the files of an attempt go: the folders of the job on this machine (Bag, mapreduce.Folder), those on
// the user's machine (transfer.Attempt), or S3 (mapreduce.Objects).
type Place interface {
	// Prepare does all of the commit that needs no permission, such as sending the files.
	Prepare(ctx context.Context, left []disk.File) error
	// Commit moves the files to their final places. The permission to do so ends after the lease.
	Commit(ctx context.Context, lease time.Duration) error
	// Abort removes the uncommitted files.
	Abort()
}
