package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/job/task"
	"berth/internal/sys/disk"
)

// Run is the folder of one run.
type Run struct {
	Home Home // its state folder
	ID   job.ID
	Dir  string
}

// Journal returns the path of the run's journal.
func (r Run) Journal() string { return filepath.Join(r.Dir, "journal") }

// Plan returns the path of the run's plan, as JSON.
func (r Run) Plan() string { return filepath.Join(r.Dir, "plan.json") }

// Logs returns the folder with what tasks wrote to their standard error.
func (r Run) Logs() string { return filepath.Join(r.Dir, "logs") }

func (r Run) spec() string  { return filepath.Join(r.Dir, "job.json") }
func (r Run) tasks() string { return filepath.Join(r.Dir, "tasks") }

// Submitted returns when the run's spec was written, by the clock of the file system.
func (r Run) Submitted() (time.Time, error) {
	st, err := os.Stat(r.spec())
	if err != nil {
		return time.Time{}, err
	}
	return st.ModTime(), nil
}

// Tasks is a run's task table: the entries of a bag, or the splits of a MapReduce job.
type Tasks struct {
	Entries Entries
	Splits  []job.Split
	More    *More // the tasks that were added to an open bag; nil: it never was one
}

// Len returns the number of maps, or of a bag's tasks so far.
func (t Tasks) Len() (int, error) {
	n, err := t.More.Len()
	return t.Entries.Len() + len(t.Splits) + n, err
}

// Of returns the entry of a bag's task, and the spec with the task's own values in place of the bag's. ok is false if the
// bag has no such task.
func (t Tasks) Of(spec *job.Spec, i int) (own *job.Spec, e job.Entry, ok bool) {
	s, ok := t.Task(spec.Bag, i)
	switch {
	case !ok:
		return spec, nil, false
	case s.Plain():
		return spec, s.Entry, true
	}
	own, e = s.Apply(spec)
	return own, e, true
}

// Task returns a task of a bag: its entry, and what it has of its own. ok is false if the bag has no such task.
func (t Tasks) Task(b *job.BagSpec, i int) (s task.Spec, ok bool) {
	if i >= t.Entries.Len() {
		return t.More.At(i - t.Entries.Len())
	}
	e := t.Entries.At(i)
	needs, err := parse.OwnNeeds(b, e)
	return task.Spec{Entry: e, Needs: needs}, err == nil
}

// Name returns what people call a bag's task.
func (t Tasks) Name(spec *job.Spec, i int) string {
	if s, ok := t.More.At(i - t.Entries.Len()); ok && s.Name != "" {
		return s.Name
	}
	if own, e, ok := t.Of(spec, i); ok {
		return own.Bag.TaskID(e, i)
	}
	return strconv.Itoa(i + 1)
}

// List returns all runs, the oldest first.
func (h Home) List() ([]Run, error) {
	dir, err := os.Open(h.Runs())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	if err == nil {
		names, err = dir.Readdirnames(0) // there may be thousands, and nothing but their names is needed
		_ = dir.Close()                  // it was only read
	}
	if err != nil {
		return nil, job.IOError(job.Fatal, h.Runs(), "cannot list the runs", err)
	}
	type numbered struct { // so that to compare them reads no number again
		name string
		n    int
	}
	found := make([]numbered, 0, len(names))
	for _, name := range names {
		if n := RunNumber(job.ID(name)); n > 0 {
			found = append(found, numbered{name, n})
		}
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.name, b.name)) })
	runs, under := make([]Run, len(found)), h.Runs()+string(filepath.Separator)
	for i, f := range found {
		runs[i] = Run{Home: h, ID: job.ID(f.name), Dir: under + f.name}
	}
	return runs, nil
}

// Save writes the spec and the task table of a new run.
func (r Run) Save(spec *job.Spec, t Tasks) error {
	if err := os.MkdirAll(r.Logs(), 0o700); err != nil {
		return job.IOError(job.Fatal, r.Dir, "cannot create the log folder", err)
	}
	return Together(func() error { return r.SaveSpec(spec) }, func() error { return r.saveTasks(t) })
}

// Together writes files at the same time, as each write waits for the disk, and returns the first error.
func Together(writes ...func() error) error {
	errs := make([]error, len(writes))
	var all sync.WaitGroup
	for i, write := range writes {
		all.Go(func() { errs[i] = write() })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// SaveSpec replaces the spec of a run.
func (r Run) SaveSpec(spec *job.Spec) error { return WriteJSON(r.spec(), spec) }

func (r Run) saveTasks(t Tasks) error {
	f, err := renameio.NewPendingFile(r.tasks(), renameio.WithPermissions(0o600), renameio.WithTempDir(r.Dir))
	if err != nil {
		return WriteError(r.tasks(), err)
	}
	defer func() { _ = f.Cleanup() }() // does nothing once the file is in place
	if err = writeTasks(f.File, t); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	return WriteError(r.tasks(), err)
}

// Load reads the run's spec and task table.
func (r Run) Load() (*job.Spec, Tasks, error) {
	spec, err := r.Spec()
	if err != nil {
		return nil, Tasks{}, err
	}
	t, err := r.loadTasks(spec.Kind)
	if spec.Kind == job.Bag && spec.Bag.Open {
		t.More = r.More()
	}
	return spec, t, err
}

// Spec reads the run's spec.
func (r Run) Spec() (*job.Spec, error) {
	var spec job.Spec
	if err := ReadJSON(r.spec(), &spec); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, job.ArgumentError("", fmt.Sprintf("no job %s", r.ID), "list the jobs with: berth status")
		}
		return nil, WithAdvice(err)
	}
	return &spec, nil
}

// WriteError returns the error for a file of the state folder that cannot be written, nil for nil.
func WriteError(path string, err error) error {
	if err == nil {
		return nil
	}
	return job.IOError(job.Fatal, path, "cannot write", err).Advice(disk.Advice(err))
}

// WithAdvice returns the error of a file of a run without which the job cannot go on, with what the user can do.
func WithAdvice(err error) error {
	var e *job.Error
	if errors.As(err, &e) && e.Do == "" && !errors.Is(err, fs.ErrNotExist) {
		e.Do = "put it back from a backup, or submit the job again; what its finished tasks wrote is kept"
	}
	return err
}

// ReadError returns the error for a file of the state folder that cannot be read, nil for nil.
func ReadError(path string, err error) error {
	if err == nil {
		return nil
	}
	return job.IOError(job.Fatal, path, "cannot read", err)
}
