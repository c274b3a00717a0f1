package files

import (
	"context"
	"time"

	"berth/internal/sys/disk"
)

// Place is where the files of an attempt go: the folders of the job on this machine (Bag, mapreduce.Folder), those on
// the user's machine (transfer.Attempt), or S3 (mapreduce.Objects).
type Place interface {
	// Prepare brings what the attempt leaves as near to its place as it may be without the permission to commit.
	Prepare(ctx context.Context, left []disk.File) error
	// Commit puts it into place. The permission to do so ends after the lease.
	Commit(ctx context.Context, lease time.Duration) error
	// Abort removes what is not in place.
	Abort()
}
