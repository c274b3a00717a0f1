package files

import (
	"context"
	"hash/fnv"
	"io"
	"path/filepath"
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

// Claims is a Place whose files other jobs may write, too.
type Claims interface {
	// Claims returns the numbers that stand for the paths of the files that Commit moves (PathNumber). It is called after Prepare.
	Claims() []uint64
	// Withhold has Commit leave files beside their places: those with these indices among Claims.
	Withhold(except []int32)
	// Beside returns where the files are that were left beside their places.
	Beside() []string
}

// PathNumber returns a number that stands for the path of a file. All paths that lead to its place through symbolic links have the same.
func PathNumber(path string) uint64 {
	dir, rest := filepath.Split(path)
	for dir = filepath.Clean(dir); ; {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil || dir == filepath.Dir(dir) {
			rest = filepath.Join(real, rest)
			break
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) // it does not exist yet
	}
	return Hash(rest)
}

// Hash returns a hash of a text that is the same in all processes.
func Hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // never fails
	return h.Sum64()
}
