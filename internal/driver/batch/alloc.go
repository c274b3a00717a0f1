package batch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/sys/disk"
	"berth/internal/sys/private"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// alloc is an allocation and the batch job that runs it. The driver's lock guards all fields except
// id, req and dir, which do not change, and wait, which is used for wake-up jobs only.
type alloc struct {
	id  job.AllocID
	req job.AllocRequest
	dir string // its folder

	wake bool // it is a wake-up job
	wait Wait // of a wake-up job

	job      string // id of the batch job; "": no job is known
	maybe    bool   // a job may have been submitted although its id is unknown: search before submitting
	unsaid   bool   // its submission has failed for no known reason (ErrUnsaid)
	released bool   // it is to be cancelled
	clear    bool   // its folders are removed once its job has ended
	down     bool   // its end was reported; its processes may still be ending

	quick int // number of polls that still follow each other quickly, as its workers have disconnected

	ending job.Time // time from which its job was seen to be ending; 0: it is not ending

	stop      func()   // gives up its submission; nil: none is under way
	submit    backoff  // of submissions that only this allocation delays
	cancel    backoff  // of cancellations
	cancelled bool     // a cancellation was accepted
	next      job.Time // when its job is expected to start or to end; 0: unknown

	up    bool // its start was reported
	ends  job.Time
	odd   bool   // its job is suspended
	runs  bool   // the script of one of its nodes has started
	note  string // the last note that was reported, and the start in it
	start job.Time
	lost  map[int]bool // ranks whose nodes were reported as failed
}

func (a *alloc) file(rank int, end string) string {
	return filepath.Join(a.dir, strconv.Itoa(rank)+end)
}
func (a *alloc) jobFile() string { return filepath.Join(a.dir, jobFile) }

// scratchPrefix returns the beginning of the name of the allocation's folder in a scratch root. Other
// coordinators of the user may share the root and use the same allocation ids.
func (a *alloc) scratchPrefix() string { return fmt.Sprintf("berth-%d-%s-", os.Getuid(), a.id) }

// scratchNoted returns the scratch folder that is written in the allocation's configuration, or "" if there is none yet.
func (a *alloc) scratchNoted() string {
	var c wire.WorkerConfig
	if err := statedir.ReadJSON(a.file(0, configEnd), &c); err == nil && strings.HasPrefix(filepath.Base(c.Scratch), a.scratchPrefix()) {
		return c.Scratch
	}
	return ""
}

// scratch returns the allocation's folder for intermediate data. It is directly in the root and not
// in a folder of the user. So in a root such as /tmp nobody but its owner can move it away. No
// other user can have created it before, as half of its name is random.
func (s *site) scratch(a *alloc) string {
	if dir := a.scratchNoted(); dir != "" {
		return dir
	}
	return filepath.Join(cmp.Or(a.req.Scratch, s.Scratch), a.scratchPrefix()+driver.Secret())
}

// prepare writes the files that the allocation's workers need. For an adopted allocation it writes them
// again, as the coordinator's address has changed.
func (s *site) prepare(a *alloc) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return folderError(a.dir, err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, clusterFile), []byte(s.id), 0o600); err != nil {
		return folderError(a.dir, err)
	}
	scratch := s.scratch(a)
	c := wire.WorkerConfig{Capacity: a.req.PerNode, Scratch: scratch, Local: a.req.Scratch, SortMemory: a.req.SortMemory, StandIn: s.StandIn,
		Rates: a.req.Rates, Constraint: a.req.Batch.Constraint, Nodes: driver.NodesIn(s.State), Trace: driver.TraceIn(s.Shared), Disk: filepath.Dir(scratch)}
	if err := statedir.WriteJSON(a.file(0, configEnd), c); err != nil { // the folder's name is written before the folder exists
		return err
	}
	var err error
	if c.Token, err = driver.Token(c.Scratch); errors.As(err, new(*private.Untrusted)) {
		return job.IOError(job.User, c.Scratch, "the scratch folder cannot be trusted", err).Advice("name another folder with --scratch")
	} else if err != nil {
		s.Log.Info("this machine does not see the scratch folder: map output is lost when its node ends", "dir", c.Scratch, "err", err)
	}
	for rank := range a.req.Nodes {
		c.Node, c.Bundle = a.id.Node(rank), a.file(rank, bundleEnd)
		if err := s.Equip(c, a.file(rank, configEnd)); err != nil {
			return err
		}
	}
	return s.writeScripts(a, c.Scratch)
}

// writeScripts writes the allocation's scripts if they do not exist.
func (s *site) writeScripts(a *alloc, scratch string) error {
	if a.script() != "" {
		return nil
	}
	system := s.reached()
	node := nodeText(system.NodeVariables(), s.Exe, a.dir, scratch)
	if err := os.WriteFile(filepath.Join(a.dir, NodeScript), []byte(node), 0o700); err != nil {
		return folderError(a.dir, err)
	}
	return s.writeScript(a, system.Script("Allocation "+string(a.id), a.dir))
}

// writeScript writes the script that is submitted, and the file for the job's output. The script's name
// is random, so that no other allocation has it, even if a new state folder counts ids from the beginning.
func (s *site) writeScript(a *alloc, text string) error {
	if err := os.WriteFile(s.output(a), nil, 0o600); err != nil { // the batch system would create it readable for everybody
		return folderError(a.dir, err)
	}
	return folderError(a.dir, os.WriteFile(filepath.Join(a.dir, "batch-"+driver.Secret()+".sh"), []byte(text), 0o700))
}

// output returns the path of the file to which the allocation's job writes its output.
func (s *site) output(a *alloc) string { return filepath.Join(a.dir, s.words.Name+".log") }

// folderError returns the error for an allocation's folder that cannot be written, nil for nil.
func folderError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return job.IOError(job.Fatal, dir, "cannot write the allocation's folder", err)
}

// script returns the path of the script that is submitted, by which the job can always be found; "" if there is none.
func (a *alloc) script() string { return scriptIn(a.dir) }

func scriptIn(dir string) string {
	names, _ := fs.Glob(os.DirFS(dir), "batch-*.sh") // the pattern is right
	if len(names) == 0 {
		return ""
	}
	return filepath.Join(dir, names[0])
}

// Submitted returns the script with which the job of an allocation's folder was submitted, and when; "" and 0 if that is not known.
func Submitted(dir string) (script string, at job.Time) {
	if dir == "" {
		return "", 0
	}
	if noted, err := os.Stat(filepath.Join(dir, jobFile)); err == nil {
		at = job.TimeOf(noted.ModTime())
	}
	return scriptIn(dir), at
}

// lockJobFile opens and locks the file to which the submitting command writes the job's id. The submitting process
// holds the lock, and so does the command that it started, if it lives longer. If another process has it, lockJobFile returns errSubmitting.
func (a *alloc) lockJobFile() (*os.File, error) {
	f, err := statedir.TryLock(a.jobFile())
	if errors.Is(err, statedir.ErrLocked) {
		return nil, errSubmitting
	}
	return f, err
}

// noted returns the job's id from the allocation's file. tried reports whether a submission was begun.
func (a *alloc) noted(s System) (id string, tried bool) {
	b, err := os.ReadFile(a.jobFile())
	if err != nil {
		return "", false
	}
	return s.JobID(string(b)), true
}

// Host returns the batch system's name of the node with this rank, given the allocation's folder, or "" before
// its script has started there.
func Host(dir string, rank int) string {
	b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(rank)+hostEnd))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// remove deletes the allocation's folders, with keys and map outputs. It deletes the scratch folder
// first, as the other folder contains its name.
func (s *site) remove(a *alloc) error {
	if scratch := a.scratchNoted(); scratch != "" {
		if err := disk.RemoveTree(scratch); err != nil {
			return err
		}
	}
	return disk.RemoveTree(a.dir)
}

// backoff delays retries.
type backoff struct {
	failures int
	next     job.Time // the earliest time of the next try; 0: at once
}

// fail records a failure at a time. The next try follows after first, and after each further failure the
// wait doubles, up to most.
func (b *backoff) fail(at job.Time, first, most time.Duration) {
	wait := first
	for i := 0; i < b.failures && wait < most; i++ {
		wait *= 2
	}
	b.failures++
	b.next = at.Add(min(wait, most))
}

func (b *backoff) reset() { *b = backoff{} }
