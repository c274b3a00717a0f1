package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
)

// Kind says what an Item is.
type Kind string

// The kinds of items.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link" // a symbolic link that is sent as it is
)

// Item is something that a task finds in its folder.
type Item struct {
	Path   string      `json:"path"` // relative to the job's folder, cleaned, below it
	Kind   Kind        `json:"kind"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // permission bits
	Size   int64       `json:"size,omitempty"`   // bytes, of a file
	MTime  int64       `json:"mtime,omitempty"`  // nanoseconds since the epoch, of a file
	Sum    string      `json:"sha256,omitempty"` // of a file's content, in hexadecimal
	Target string      `json:"target,omitempty"` // of a link
	Own    bool        `json:"own,omitempty"`    // the task may change it, so it gets a copy: what its command names
}

// MarshalJSON keeps every byte of names, which need not be UTF-8.
func (i Item) MarshalJSON() ([]byte, error) {
	type plain Item
	i.Path, i.Target = url.PathEscape(i.Path), url.PathEscape(i.Target)
	return json.Marshal(plain(i))
}

// UnmarshalJSON undoes MarshalJSON.
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

// Needs is what a task finds in its folder: folders come before what is in them.
type Needs struct {
	Items []Item `json:"items"`
}

// maxItems bounds how many files and folders one task may need.
const maxItems = 100_000

// maxAnswer bounds what a client reads of an answer that is no file, bytes.
const maxAnswer = 64 << 20

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check refuses what no server sends and what would lead a client out of the task's folder.
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
		case i.Kind == File && i.Size >= 0 && sumForm.MatchString(i.Sum):
		case i.Kind == Link && i.Target != "":
			links[i.Path] = true
		default:
			return fmt.Errorf("%q is neither file, folder nor link", i.Path)
		}
	}
	return nil
}

// parseNeeds reads what a server says that a task needs.
func parseNeeds(text []byte) (*Needs, error) {
	var n Needs
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("what the task needs is not understood: %w", err)
	}
	return &n, n.Check()
}

// Received answers an upload.
type Received struct {
	Size  int64  `json:"size"`   // bytes
	Sum   string `json:"sha256"` // of what arrived, in hexadecimal
	Clock int64  `json:"clock"`  // the server's, nanoseconds; see Commit
}

// Commit asks to put into place what an attempt has sent.
type Commit struct {
	Names []string `json:"names"` // of outputs, as they were sent, each escaped as a segment of a URL
	// Until is up to when the attempt may commit, by the server's clock: the engine's grant lapses with the worker's lease, and this request may have been
	// on its way for long. The worker knows a moment of that clock by an answer (Received.Clock) and adds what has passed since and what
	// is left of its lease. An answer takes its time, too, so the sum is never too late.
	Until int64 `json:"until"`
}

// fault is an error as it goes over the connection.
type fault struct {
	Outcome event.Outcome `json:"outcome"`
	Reason  string        `json:"reason"`
}

// failure returns the error as the end of an attempt.
func (f *fault) failure() error {
	switch f.Outcome {
	case event.Failed, event.Broken, event.Lost:
		return &process.Failure{Outcome: f.Outcome, Reason: f.Reason}
	default:
		return process.Broken("berth's own fault: %s", f.Reason)
	}
}

// faultOf returns what is told of an error.
func faultOf(err error) fault {
	f := process.FailureOf(err)
	return fault{Outcome: f.Outcome, Reason: f.Reason}
}

// errLapsed is that a commit came after its grant had lapsed.
var errLapsed = errors.New("the grant to commit has lapsed")

// clock counts nanoseconds since a moment.
type clock struct{ from time.Time }

func (c clock) now() int64 { return int64(time.Since(c.from)) }
