package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"time"

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
	Path   string      `json:"path"` // relative to the job's folder, cleaned, below it
	Kind   Kind        `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // permission bits
	Size   int64       `json:"size,omitempty"`   // bytes, of a file
	MTime  int64       `json:"mtime,omitempty"`  // nanoseconds since the epoch, of a file
	Sum    string      `json:"sha256,omitempty"` // of a file's content, in hexadecimal
	Target string      `json:"target,omitempty"` // of a link
	Own    bool        `json:"own,omitempty"`    // the command names it and may change it, so the task gets a copy
}

// MarshalJSON escapes names, which need not be UTF-8, so that every byte is kept.
func (i Item) MarshalJSON() ([]byte, error) {
	type plain Item
	i.Path, i.Target = url.PathEscape(i.Path), url.PathEscape(i.Target)
	return json.Marshal(plain(i))
}

// UnmarshalJSON reverses MarshalJSON.
func (i *Item) UnmarshalJSON(text []byte) error {
	type plain Item
	if err := json.Unmarshal(text, (*plain)(i)); err != nil {
		return err
	}
	var errPath, errTarget error
	i.Path, errPath = url.PathUnescape(i.Path)
	i.Target, errTarget = url.PathUnescape(i.Target)
	return errors.Join(errPath, errTarget)
}

// Needs lists what a task finds in its folder. A folder comes before its contents.
type Needs struct {
	Items []Item `json:"items"`
}

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

// parseNeeds decodes and checks a server's answer.
func parseNeeds(text []byte) (*Needs, error) {
	var n Needs
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("what the task needs is not understood: %w", err)
	}
	return &n, n.Check()
}

// Received is the answer to an upload.
type Received struct {
	Size  int64  `json:"size"`   // bytes
	Sum   string `json:"sha256"` // of the bytes that arrived, in hexadecimal
	File  uint64 `json:"file"`   // stands for the path at which it is put into place (files.PathNumber)
	Clock int64  `json:"clock"`  // reading of the server's clock in nanoseconds, see Commit
}

// Commit is the request to commit the outputs of an attempt.
type Commit struct {
	Names []string `json:"names"` // of outputs, as they were sent, each escaped as a segment of a URL
	// Until is the last time at which the attempt may commit, by the server's clock: the engine's grant ends with the
	// worker's lease, and this request may be delayed. The worker knows a reading of that clock from an answer
	// (Received.Clock), and adds the time since the answer arrived and the rest of its lease. As an answer also takes
	// time, the sum is never too late.
	Until  int64   `json:"until"`
	Except []int32 `json:"except,omitempty"` // indices of outputs that belong to other jobs, and are left beside their places
}

// Committed is the answer to Commit.
type Committed struct {
	Beside []string `json:"beside,omitempty"` // where the outputs are that belong to other jobs
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

// clock counts nanoseconds from a fixed time on.
type clock struct{ from time.Time }

func (c clock) now() int64 { return int64(time.Since(c.from)) }
