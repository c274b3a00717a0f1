package transfer

import (
	"errors"
	"os"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// maxChecked is the number of tasks of a bag that are checked before the bag starts.
const maxChecked = 20

// Check returns an error of class User if files that the first tasks of a bag need cannot be sent to hosts that do not
// see the job's folder, or be copied to the own disks of those that do (near), so that a mistake in a command is
// reported before anything runs. It does not read the contents of files.
func Check(spec *job.Spec, entries []job.Entry, near bool) error {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil // the start of the job reports what is wrong with its folder
	}
	defer root.Close() // the folder was only read
	for i, e := range entries[:min(len(entries), maxChecked)] {
		c := &collector{dir: spec.Dir, root: root, near: near, digest: func(*Item) error { return nil }}
		if near {
			c.root = visible(spec.Dir)
		}
		_, err := c.needs(spec.Bag, e, i)
		var f *process.Failure
		if errors.As(err, &f) {
			return job.ArgumentError("task "+spec.Bag.TaskID(e, i), f.Reason, "")
		}
	}
	return nil
}
