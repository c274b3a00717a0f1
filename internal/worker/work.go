package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"berth/internal/inherit"
	"berth/internal/job"
	"berth/internal/wire"
)

// work is what the worker knows of one job.
type work struct {
	spec          *job.Spec
	specJSON      []byte // spec as it was told
	runDir        string
	maps, reduces int
	dir           string // the job's part of the scratch folder; made when first needed

	change *inherit.Change // for its tasks' programs; nil: none
	umask  int             // of its tasks; −1: the worker's

	bagEnv []string  // what the environment of every task begins with; its capacity is its length
	places *places   // where map outputs are
	ship   *shipping // what the job's tasks find in their folders

	mu    sync.Mutex
	paths map[string]string // commands that were looked up in PATH
}

// newWork takes what the coordinator tells of a job.
func newWork(m *wire.Job, s *scratch) (*work, error) {
	var spec job.Spec
	if err := json.Unmarshal(m.Spec, &spec); err != nil {
		return nil, err
	}
	if _, err := job.ParseID("job", string(spec.ID)); err != nil {
		return nil, err // the id names a folder
	}
	if err := check(&spec, m); err != nil {
		return nil, err
	}
	wk := &work{spec: &spec, specJSON: bytes.Clone(m.Spec), runDir: m.RunDir, maps: m.Maps, reduces: m.Reduces, dir: s.job(spec.ID),
		places: newPlaces(), ship: &shipping{}, paths: make(map[string]string)}
	wk.takeInherit()
	if spec.Bag != nil {
		env := taskEnv(spec.Bag.Env, spec.Bag.Need.CPUs, s.cookie, "BERTH_JOB_ID="+string(spec.ID))
		wk.bagEnv = env[:len(env):len(env)]
	}
	return wk, nil
}

// ownInherit is what programs get that this worker starts.
var ownInherit = sync.OnceValue(inherit.Own)

// takeInherit finds out in what the job's tasks are to differ from what this worker hands on.
func (wk *work) takeInherit() {
	wk.umask = -1
	if wk.spec.Inherit != nil {
		wk.change = inherit.From(ownInherit(), wk.spec.Inherit)
	}
	if wk.change != nil {
		wk.umask = wk.change.Umask
	}
	if wk.umask < 0 && wk.spec.MapReduce != nil {
		wk.spec.MapReduce.PartMode = 0 // files have the right bits by themselves
	}
}

// check refuses what would not make a task: the spec was checked when it was
// submitted, but what came over the wire must not crash the worker.
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

// need returns what one task of that kind takes of the node.
func (wk *work) need(kind job.TaskKind) job.Resources {
	switch {
	case wk.spec.Bag != nil:
		return wk.spec.Bag.Need
	case kind == job.MapTask:
		return wk.spec.MapReduce.MapNeed
	default:
		return wk.spec.MapReduce.ReduceNeed
	}
}

// kind returns the kind of the task with that index.
func (wk *work) kind(task int) job.TaskKind {
	switch {
	case wk.spec.Bag != nil:
		return job.BagTask
	case task < wk.maps:
		return job.MapTask
	default:
		return job.ReduceTask
	}
}

// threads is the variable that tells programs how many threads to use.
const threads = "OMP_NUM_THREADS"

// taskEnv returns the user's environment with what berth tells each of its tasks:
// own, the node's cookie, and how many threads to use, for programs that would else
// start one for each core of the machine. A name is there once only, since which of
// two a program sees is up to it. What an outer berth told its task is taken out.
func taskEnv(user []string, cpus int, cookie string, own ...string) []string {
	own = append(own, cookie, taskBatchJob+"="+job.Getenv(user, batchJob))
	if _, set := job.LookupEnv(user, threads); !set {
		own = append(own, threads+"="+strconv.Itoa(cpus))
	}
	env := make([]string, 0, len(user)+len(own))
	for _, kv := range user {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := job.LookupEnv(own, name); !replaced && !strings.HasPrefix(name, "BERTH_") && name != "SLURM_ARRAY_TASK_ID" {
			env = append(env, kv)
		}
	}
	return append(env, own...)
}

// lookPath finds a command as execvp(3) does: a name with a slash is a path, any
// other is looked for in PATH. What was found is kept for the job's other tasks.
func (wk *work) lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	wk.mu.Lock()
	defer wk.mu.Unlock()
	if p, ok := wk.paths[name]; ok {
		return p, nil
	}
	if name == "" {
		return "", failed("the command is empty")
	}
	path, set := job.LookupEnv(env, "PATH")
	if !set {
		path = defaultPath
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		p := filepath.Join(folder, name)
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			wk.paths[name] = p
			return p, nil
		}
	}
	return "", notFound(name)
}

// forgetPaths drops what was looked up: a program may have been moved.
func (wk *work) forgetPaths() {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	clear(wk.paths)
}

// defaultPath is where commands are looked for without PATH (execvp(3)).
const defaultPath = "/bin:/usr/bin"
