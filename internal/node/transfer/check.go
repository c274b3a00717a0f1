package transfer

import (
	"errors"
	"io/fs"
	"os"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// maxChecked is how many tasks of a bag are looked at before it begins.
const maxChecked = 20

// Check returns an error where what the first tasks of a bag need cannot be sent to hosts that do not see the job's folder: a mistake in a command is told before
// anything runs. Nothing is read of the files themselves.
func Check(spec *job.Spec, entries []job.Entry) error {
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil // who runs the job says what is wrong with its folder
	}
	defer func() { _ = root.Close() }() // only read
	for i, e := range entries[:min(len(entries), maxChecked)] {
		c := &collector{dir: spec.Dir, root: root, digest: func(string, fs.FileInfo) (string, error) { return "", nil }}
		_, err := c.needs(spec.Bag, e, i)
		var f *process.Failure
		if errors.As(err, &f) {
			return &job.Error{Class: job.User, Code: job.CodeArguments, Where: "task " + spec.Bag.TaskID(e, i), What: f.Reason}
		}
	}
	return nil
}
