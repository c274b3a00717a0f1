package transfer

import (
	"context"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/files"
	"berth/internal/sys/disk"
)

// Attempt sends the files of an attempt to the machine with the job's folders.
type Attempt struct {
	Client *Client
	ID     job.Attempt
	Sent   func(name string, bytes int64) // called for each file that was sent

	names  []string // of files that were sent, in this order
	files  []uint64 // the numbers of their paths
	except []int32  // indices of those that are left beside their places
	beside []string // where these are
	latest Stamp
	begun  bool
}

var (
	_ files.Place  = (*Attempt)(nil)
	_ files.Claims = (*Attempt)(nil)
)

// Prepare sends the files to the server, where they stay under hidden names until Commit.
func (a *Attempt) Prepare(ctx context.Context, left []disk.File) error {
	for _, f := range left {
		a.begun = true
		s, err := a.Client.Send(ctx, a.ID, f.Name, f.Path)
		if err != nil {
			return err
		}
		a.Sent(f.Name, s.Size)
		a.names, a.files, a.latest = append(a.names, f.Name), append(a.files, s.File), s
	}
	return nil
}

// Commit asks the server to rename the sent files to their final names.
func (a *Attempt) Commit(ctx context.Context, lease time.Duration) (err error) {
	if len(a.names) == 0 {
		return nil
	}
	a.beside, err = a.Client.Commit(ctx, a.ID, a.names, a.except, a.latest, lease)
	return err
}

// Claims returns the numbers of the paths of the sent files.
func (a *Attempt) Claims() []uint64 { return a.files }

// Withhold has the server leave files beside their places.
func (a *Attempt) Withhold(except []int32) { a.except = except }

// Beside returns where these are.
func (a *Attempt) Beside() []string { return a.beside }

// dropTime is the longest wait for an answer of the server when files are removed. Without an answer they are removed
// when the connection ends, or with the job's temporary files.
const dropTime = 10 * time.Second

// Abort asks the server to remove the sent files. An error is ignored, because the server also removes them when the
// connection ends.
func (a *Attempt) Abort() {
	if !a.begun {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	_ = a.Client.Drop(ctx, a.ID)
}

// DropOthers asks the server to remove the uncommitted files of the task's other attempts, up to the number last.
func (a *Attempt) DropOthers(last int) {
	ctx, cancel := context.WithTimeout(context.Background(), dropTime)
	defer cancel()
	_ = a.Client.DropOthers(ctx, a.ID, last)
}
