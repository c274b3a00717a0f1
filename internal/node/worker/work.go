package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"berth/internal/core/job"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/collect"
	"berth/internal/node/process"
	"berth/internal/sys/procattr"
	"berth/internal/wire"
)

// work is a job on this worker.
type work struct {
	spec          *job.Spec
	specJSON      []byte // the spec as it was sent
	runDir        string
	maps, reduces int
	dir           string // the job's part of the scratch folder; made when first needed

	change    *procattr.Change   // the change for programs of its tasks; nil: none
	bagEnv    []string           // the first part of the environment of each task; its capacity is its length
	scratch   *scratch           // of the node
	places    *shuffle.Locations // the locations of map outputs
	ship      *shipping          // the files that are shipped to its tasks
	collected *collect.Writer    // collects what tasks print; nil: each task has its own files

	misled atomic.Uint32 // sources that failed to measure the progress of its tasks
	proven atomic.Uint32 // sources that measured the progress of a task to its end

	told    sync.Once // that --local has no effect here
	paths   sync.Map  // of commands that were found in PATH, by their names
	folders sync.Map  // paths of folders that tasks left, and that were looked into for files from before the job
}

// newWork returns the job that the coordinator has sent.
func newWork(m *wire.Job, s *scratch, far bool) (*work, error) {
	var spec job.Spec
	if err := json.Unmarshal(m.Spec, &spec); err != nil {
		return nil, err
	}
	if _, err := job.ParseID("job", string(spec.ID)); err != nil {
		return nil, err // the id must be valid, as it is the name of a folder
	}
	if err := check(&spec, m); err != nil {
		return nil, err
	}
	wk := &work{spec: &spec, specJSON: bytes.Clone(m.Spec), runDir: m.RunDir, maps: m.Maps, reduces: m.Reduces, dir: s.job(spec.ID), scratch: s,
		places: shuffle.NewLocations(), ship: &shipping{}}
	wk.takeInherit()
	switch {
	case far && spec.Bag != nil:
		spec.Bag.Env = append(hostEnv(), spec.Bag.Env...)
	case far && spec.MapReduce != nil:
		spec.MapReduce.Env = append(hostEnv(), spec.MapReduce.Env...)
	}
	if spec.Bag != nil {
		if spec.Bag.Collect {
			wk.collected = collect.NewWriter(spec.Bag.CollectFolder(spec.ID))
		}
		wk.bagEnv = wk.makeEnv(&spec)
		chooseShell(spec.Bag, wk.bagEnv)
	}
	return wk, nil
}

// makeEnv returns the first part of the environment of a bag's tasks with that spec. Its capacity is its length.
func (wk *work) makeEnv(spec *job.Spec) []string {
	s := wk.scratch
	own := []string{"BERTH_JOB_ID=" + string(spec.ID), "BERTH_DIR=" + spec.Dir}
	if spec.Stage != nil {
		own = append(own, spec.Stage.Env...)
	}
	return s.cookie.TaskEnv(s.Variables, spec.Bag.Env, process.Place{Need: spec.Bag.Need, Dir: spec.Dir}, own...)
}

// chooseShell replaces a shell that this node does not have and that the user did not name: by one of that name in PATH, else by /bin/sh.
func chooseShell(b *job.BagSpec, env []string) {
	if b.ShellProgram == "" || b.ShellNamed {
		return
	}
	if _, err := os.Stat(b.ShellProgram); err == nil {
		return
	}
	if b.ShellProgram = procattr.LookPath(job.Getenv(env, "PATH"), "/", filepath.Base(b.ShellProgram)); b.ShellProgram == "" {
		b.ShellProgram = job.PosixShell
	}
}

// ownInherit returns what programs inherit from this worker.
var ownInherit = sync.OnceValue(procattr.Own)

// takeInherit computes the difference between what the job's tasks must inherit and what this worker passes on.
func (wk *work) takeInherit() {
	want := wk.spec.Inherit
	if b := wk.spec.Bag; b != nil && b.AddressSpace && b.Need.Mem > 0 {
		limited := job.Inherit{}
		if want != nil {
			limited = *want
		}
		limited.Limits = maps.Clone(limited.Limits)
		if limited.Limits == nil {
			limited.Limits = make(map[string]uint64)
		}
		limited.Limits["as"] = uint64(b.Need.Mem)
		want = &limited
	}
	if want != nil {
		wk.change = procattr.From(ownInherit(), want)
	}
	if wk.change.Mask() < 0 && wk.spec.MapReduce != nil {
		wk.spec.MapReduce.PartMode = 0 // files have the right mode without it
	}
}

// check returns an error if a task cannot be made from the spec. The spec was checked when the job was submitted,
// but a message must never crash the worker.
func check(spec *job.Spec, m *wire.Job) error {
	switch mr := spec.MapReduce; {
	case spec.Bag != nil:
		if len(spec.Bag.Command) == 0 {
			return errors.New("a bag without a command")
		}
	case mr == nil:
		return errors.New("neither a bag nor a MapReduce job")
	case m.Reduces > 0 && mr.Reducer == nil:
		return errors.New("reduces without a reducer")
	default:
		for _, p := range []*job.Program{&mr.Mapper, mr.Combiner, mr.Reducer} {
			if p != nil && p.Native == "" && len(p.Args) == 0 {
				return errors.New("a program without a command")
			}
		}
	}
	return nil
}

// need returns the cores and memory that a map or a reduce needs.
func (wk *work) need(kind job.TaskKind) job.Resources {
	if kind == job.MapTask {
		return wk.spec.MapReduce.MapNeed
	}
	return wk.spec.MapReduce.ReduceNeed
}

// kind returns the kind of the task with this index.
func (wk *work) kind(task int) job.TaskKind { return wk.spec.Kind.TaskKind(wk.maps, task) }

// lookPath finds a command as execvp(3) does: a name with a slash is a path, any other name is searched for in PATH.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	if name == "" {
		return "", process.Failed("the command is empty")
	}
	path, set := job.LookupEnv(env, "PATH")
	if !set {
		path = defaultPath
	}
	p := procattr.LookPath(path, dir, name)
	if p == "" {
		return "", process.NotFound(name)
	}
	return p, nil
}

// defaultPath is the value of a missing PATH (execvp(3)).
const defaultPath = "/bin:/usr/bin"
