package transfer

import (
	"fmt"
	"io/fs"
	"path"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/node/process"
)

// Kind is the kind of an Item.
type Kind string

// The kinds of items.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link" // a symbolic link, sent as a link
)

// Item is a file, folder or link that a task finds in its folder.
type Item struct {
	Path   string      `msgpack:"p"` // relative to the job's folder, cleaned, below it
	Kind   Kind        `msgpack:"k"`
	Mode   fs.FileMode `msgpack:"m,omitempty"` // permission bits
	Size   int64       `msgpack:"s,omitempty"` // bytes, of a file
	MTime  int64       `msgpack:"t,omitempty"` // nanoseconds since the epoch, of a file
	Sum    string      `msgpack:"h,omitempty"` // SHA-256 of a file's content, in hexadecimal; of its version in the list of Near
	Target string      `msgpack:"l,omitempty"` // of a link
	Own    bool        `msgpack:"o,omitempty"` // the command names it and may change it, so the task gets a copy
	near   bool        // it is in the list of Near
}

// Needs lists what a task finds in its folder. A folder comes before its contents.
type Needs struct{ Items []Item }

// maxItems is the largest number of files and folders that one task may need.
const maxItems = 100_000

// maxAnswer is the largest size in bytes of an answer that is not a file.
const maxAnswer = 64 << 20

var sumForm = pattern.Lazy(`^[0-9a-f]{64}$`)

// Check returns an error for a list that no correct server sends, such as one with names that lead out of the task's
// folder.
func (n *Needs) Check() error {
	if len(n.Items) > maxItems {
		return fmt.Errorf("%d items are more than %d", len(n.Items), maxItems)
	}
	links := make(map[string]bool)
	for _, i := range n.Items {
		if path.Clean(i.Path) != i.Path || !job.Below(i.Path) {
			return fmt.Errorf("%q is not a name below the job's folder", i.Path)
		}
		for dir := path.Dir(i.Path); dir != "."; dir = path.Dir(dir) {
			if links[dir] {
				return fmt.Errorf("%q leads through a symbolic link", i.Path)
			}
		}
		switch {
		case i.Kind == Folder:
		case i.Kind == File && i.Size >= 0 && sumForm().MatchString(i.Sum):
		case i.Kind == Link && i.Target != "":
			links[i.Path] = true
		default:
			return fmt.Errorf("%q is neither file, folder nor link", i.Path)
		}
	}
	return nil
}

// Received is the answer to an upload.
type Received struct {
	Size  int64    // bytes
	Sum   string   // SHA-256 of the bytes that arrived, in hexadecimal
	File  uint64   // stands for the path at which it is put into place (files.PathNumber)
	Clock job.Time // reading of the server's clock (probe.Now), see Commit
}

// Commit is the request to commit the outputs of an attempt.
type Commit struct {
	Names []string // of outputs, as they were sent
	// Until is the last time at which the attempt may commit, by the server's clock: the engine's grant ends with the
	// worker's lease, and this request may be delayed. The worker knows a reading of that clock from an answer
	// (Received.Clock), and adds the time since the answer arrived and the rest of its lease. As an answer also takes
	// time, the sum is never too late.
	Until  job.Time
	Except []int32 // indices of outputs that belong to other jobs, and are left beside their places
}

// Committed is the answer to Commit.
type Committed struct {
	Beside []string // where the outputs are that belong to other jobs
}

// failureOf returns the error that ends the attempt, of the one that the server has sent.
func failureOf(f *process.Failure) error {
	switch f.Outcome {
	case event.Failed, event.Broken, event.Lost:
		return f
	default:
		return process.Broken("berth's own fault: %s", f.Reason)
	}
}
