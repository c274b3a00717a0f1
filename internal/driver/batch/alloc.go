package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/disk"
	"berth/internal/driver"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/private"
	"berth/internal/wire"
)

// alloc is an allocation and the batch job that is to be it. The driver's lock guards all
// of it but the first three, which do not change, and wait, which wake-up jobs alone have.
type alloc struct {
	id  job.AllocID
	req job.AllocRequest
	dir string // its folder

	wake bool // it is a wake-up job, with
	wait Wait

	job      string // id of the batch job; empty: none that is known
	maybe    bool   // a job may have been submitted all the same: look before submitting
	released bool   // it shall end
	clear    bool   // its folders shall go once it has ended
	down     bool   // its end was reported; its processes may be ending yet

	looks int // so many looks are to follow each other soon: its workers have gone

	ending job.Time // since when its job is seen to be ending; 0: it is not

	submit backoff  // of submissions that are to wait for this allocation's sake
	cancel backoff  // of cancellations
	next   job.Time // when it is expected to change: begin, or end; 0: unknown

	up    bool // its begin was reported, with
	ends  job.Time
	note  string // the last note, with
	start job.Time
	lost  map[int]bool // ranks whose nodes were reported as failed
}

func (a *alloc) file(rank int, end string) string {
	return filepath.Join(a.dir, strconv.Itoa(rank)+end)
}
func (a *alloc) jobFile() string { return filepath.Join(a.dir, jobFile) }

// scratchPrefix begins the name of the allocation's folder in a scratch root, which other
// coordinators of the user may share and which call theirs by the same ids.
func (a *alloc) scratchPrefix() string { return fmt.Sprintf("berth-%d-%s-", os.Getuid(), a.id) }

// scratchNoted returns the folder that the allocation's configurations name, "" before there are any.
func (a *alloc) scratchNoted() string {
	var c wire.WorkerConfig
	if err := home.ReadJSON(a.file(0, configEnd), &c); err == nil && strings.HasPrefix(filepath.Base(c.Scratch), a.scratchPrefix()) {
		return c.Scratch
	}
	return ""
}

// scratch returns the allocation's folder for intermediate data. It lies in the root itself, not
// in a folder of the user's: in /tmp, say, nobody but its owner can move it out of the way. No
// other user can have made it first, as half of its name is chosen at random.
func (s *site) scratch(a *alloc) string {
	if dir := a.scratchNoted(); dir != "" {
		return dir
	}
	root := s.opts.Scratch
	if a.req.Scratch != "" {
		root = a.req.Scratch
	}
	return filepath.Join(root, a.scratchPrefix()+driver.Secret())
}

// prepare writes what the allocation's workers need to know, anew where it is adopted: the
// coordinator's address is another one.
func (s *site) prepare(a *alloc) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return folderError(a.dir, err)
	}
	if s.id != "" {
		if err := os.WriteFile(filepath.Join(a.dir, clusterFile), []byte(s.id), 0o600); err != nil {
			return folderError(a.dir, err)
		}
	}
	scratch := s.scratch(a)
	c := wire.WorkerConfig{Capacity: a.req.PerNode, Scratch: scratch, SortMemory: a.req.SortMemory, StandIn: s.opts.StandIn,
		Rates: a.req.Rates, Constraint: a.req.Batch.Constraint, Nodes: driver.NodesIn(s.opts.State), Trace: driver.TraceIn(s.opts.Shared), Disk: filepath.Dir(scratch)}
	if err := home.WriteJSON(a.file(0, configEnd), c); err != nil { // the folder's name is noted before there is one
		return err
	}
	var err error
	if c.Token, err = driver.Token(c.Scratch); errors.As(err, new(*private.Untrusted)) {
		return scratchError(c.Scratch, err)
	} else if err != nil {
		s.opts.Log.Info("the scratch folder is not seen from here: map output ends with its node", "dir", c.Scratch, "err", err)
	}
	for rank := range a.req.Nodes {
		c.Node, c.Bundle = a.id.Node(rank), a.file(rank, bundleEnd)
		if err := s.opts.Issue(c.Node, c.Bundle); err != nil {
			return fmt.Errorf("make keys for %s: %w", c.Node, err)
		}
		if err := home.WriteJSON(a.file(rank, configEnd), c); err != nil {
			return err
		}
	}
	return s.writeScripts(a, c.Scratch)
}

// writeScripts writes the scripts of an allocation that has none yet.
func (s *site) writeScripts(a *alloc, scratch string) error {
	if old, err := a.script(); err == nil && old != "" {
		return nil
	}
	system := s.reached()
	node := nodeText(system.NodeVariables(), s.opts.Exe, a.dir, scratch)
	if err := os.WriteFile(filepath.Join(a.dir, NodeScript), []byte(node), 0o700); err != nil {
		return folderError(a.dir, err)
	}
	return s.writeScript(a, system.Script("Allocation "+string(a.id), a.dir))
}

// writeScript writes the script that is submitted, and the file for the job's output. The script's name
// is this allocation's alone, even where ids begin anew in a new state folder.
func (s *site) writeScript(a *alloc, text string) error {
	if err := os.WriteFile(s.output(a), nil, 0o600); err != nil { // the batch system would make it for all to read
		return folderError(a.dir, err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, "batch-"+driver.Secret()+".sh"), []byte(text), 0o700); err != nil {
		return folderError(a.dir, err)
	}
	return nil
}

// output returns the path of the file with the output of the allocation's job.
func (s *site) output(a *alloc) string { return filepath.Join(a.dir, s.words.Name+".log") }

func folderError(dir string, err error) error {
	return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: dir, What: "cannot write the allocation's folder", Err: err}
}

// script returns the path of the script that is submitted, which names the job for good; "" without one.
func (a *alloc) script() (string, error) {
	files, err := filepath.Glob(filepath.Join(globQuote(a.dir), "batch-*.sh"))
	if err != nil || len(files) == 0 {
		return "", err
	}
	return files[0], nil
}

// globQuote quotes a path for filepath.Glob.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// scratchError is the error for a scratch folder that others made or may write to.
func scratchError(dir string, err error) error {
	return &job.Error{Class: job.User, Code: job.CodeIO, Where: dir, What: "the scratch folder cannot be trusted", Err: err,
		Do: "name another with --scratch"}
}

// lockJobFile opens the file that the submitting command writes the job's id to, locked: by who submits, and
// by the command that it started, should that outlive it. It returns errSubmitting where another has it.
func (a *alloc) lockJobFile() (*os.File, error) {
	f, err := home.TryLock(a.jobFile())
	if errors.Is(err, home.ErrLocked) {
		return nil, errSubmitting
	}
	return f, err
}

// noted returns the job's id from its file. tried says that a submission was begun.
func (a *alloc) noted(s System) (id string, tried bool) {
	b, err := os.ReadFile(a.jobFile())
	if err != nil {
		return "", false
	}
	return s.JobID(string(b)), true
}

// Host returns the batch system's name of the node that has a rank in an allocation, given that one's folder; empty before
// anything has begun there.
func Host(dir string, rank int) string {
	b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(rank)+hostEnd))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// remove deletes the allocation's folders; keys and map outputs go with them. The scratch
// folder goes first: while the other is there it is found again.
func (s *site) remove(a *alloc) error {
	if scratch := a.scratchNoted(); scratch != "" {
		if err := disk.RemoveTree(scratch); err != nil {
			return fmt.Errorf("remove %s: %w", scratch, err)
		}
	}
	if err := os.RemoveAll(a.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", a.dir, err)
	}
	return nil
}

// backoff spaces out tries that fail.
type backoff struct {
	failures int
	next     job.Time // not before; 0: at once
}

// fail notes a failure at an instant: the next try is first after it, and each time twice
// as long, max at most.
func (b *backoff) fail(at job.Time, first, most time.Duration) {
	wait := first
	for i := 0; i < b.failures && wait < most; i++ {
		wait *= 2
	}
	b.failures++
	b.next = at.Add(min(wait, most))
}

func (b *backoff) reset() { *b = backoff{} }
