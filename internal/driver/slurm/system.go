package slurm

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// Name is the batch system's name, as in --on.
const Name = "slurm"

// System reaches Slurm by its commands in one environment.
type System struct {
	batch.Tools
	site batch.Kept[site]
	form atomic.Value // form that the site has accepted after a refusal
}

// Open returns Slurm as it is reached in an environment. It runs no command.
func Open(env []string) *System {
	return &System{Tools: batch.Tools{User: env, Env: commandEnv(env), Needed: []string{"sbatch"}, Variable: "SLURM_CONF", Config: defaultConfig,
		Load: "log in where Slurm is installed, or load its module", Patience: commandTimeout, Classify: classify, ID: jobID}}
}

// jobID finds the id in the output of sbatch --parsable: the id, and after a semicolon the cluster.
var jobID = pattern.Lazy(`^(0*[1-9][0-9]*)(;.*)?$`)

// Words returns Slurm's own names.
func (s *System) Words() driver.BatchWords {
	return driver.BatchWords{
		System: "Slurm", Controller: "the Slurm controller", Ask: "sinfo", Cancel: "scancel", List: []string{"squeue", "sacct"}, Run: []string{"srun", "salloc"},
		Accounting: pastCommand, ReadPast: readPast,
		Mark: "#SBATCH", Directives: directives,
		Noise: noise, Variables: variables, Where: []string{"--reservation", "--wckey"},
		Cores: coresOf,
		BatchSystem: parse.BatchSystem{
			Name: Name, Flag: "sbatch-arg", Command: "sbatch",
			Own: strings.Fields(`-N --nodes -t --time -n --ntasks -a --array -o --output
		-W --wait --wrap --parsable --test-only --ntasks-per-node -c --cpus-per-task --requeue`),
			Elsewhere: []string{"-M", "--clusters", "--cluster"},
			Choose:    "name one cluster in the environment: export SLURM_CLUSTERS=NAME",
		},
	}
}

// directives are the options of sbatch that a bag has, too. A wall time of a job of one task is the task's limit.
const directives driver.Table = `
array = array
a = array
cpus-per-task = cpus-per-task
c = cpus-per-task
mem = mem
gpus-per-task = gpus
gpus-per-node = gpus
gres = gpus
ntasks = ranks
n = ranks
nodes = ranks
N = ranks
ntasks-per-node = ranks-per-node
time = time-limit
t = time-limit
output = stdout
o = stdout
error = stderr
e = stderr
job-name = job-name
J = job-name
partition = partition
p = partition
account = account
A = account
qos = qos
q = qos
constraint = constraint
C = constraint
exclusive = exclusive
`

// queueWords are the names that a plan uses.
var queueWords = cluster.Words{Reservation: "--reservation=", Limits: "sacctmgr show qos, sacctmgr show assoc",
	Cores: []string{"--hint=nomultithread", "--hint=compute_bound", "--hint=memory_bound", "--threads-per-core=1"}, Licences: []string{"-L", "--licenses"}}

// config returns the configuration ("scontrol show config"), which is read once.
func (s *System) config(ctx context.Context) (site, error) {
	return s.site.Get(math.MaxInt64, func() (site, error) {
		out, err := s.Output(ctx, "scontrol", "show", "config")
		return parseSite(out), err
	})
}

// Test asks Slurm's own plan when a job for the request would start.
func (s *System) Test(ctx context.Context, req job.AllocRequest) (job.Time, error) {
	said := ""
	err := s.shaped(ctx, req, func(args []string) (err error) {
		_, said, err = s.Run(ctx, batch.Call{Name: "sbatch", Args: append(args, "--test-only"), Env: jobEnv(s.User), In: "#!/bin/sh\n:\n"})
		if _, ok := parseTestOnly(said); ok {
			return nil // a site's sbatch, which calls Slurm's, may exit as it likes
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	text, ok := parseTestOnly(said)
	if start := parseTime(text); ok && start > 0 {
		return start, nil
	}
	return 0, job.FatalError("sbatch --test-only", "its output is not understood: "+words(said), nil)
}

// Submit submits a job. sbatch writes the job's id directly to out.
func (s *System) Submit(ctx context.Context, sub batch.Submission, out *os.File) (string, error) {
	req := sub.Request
	submit := func(avoid []string) (id string, err error) {
		err = s.shaped(ctx, req, func(args []string) (err error) {
			args = slices.Concat(avoid, args, ownArgs(sub), waitArgs(sub.Wait), []string{sub.Script})
			id, err = s.Tools.Submit(ctx, batch.Call{Name: "sbatch", Args: args, Env: jobEnv(s.User), Out: out})
			return err
		})
		if f, _ := s.form.Load().(form); err == nil && f.anywhere && req.Batch.Partition != "" && sub.Note != nil {
			sub.Note("the site chooses the partition of its job itself, and not " + req.Batch.Partition + " as requested")
		}
		return id, err
	}
	if avoid := avoidArgs(req); len(avoid) > 0 {
		if id, err := submit(avoid); err == nil || job.ClassOf(err) == job.Transient {
			return id, err
		} // without these nodes there may be too few
	}
	return submit(nil)
}

// shaped calls sbatch with the options that describe a request. If the site's filter refuses one of them, or asks for one, the request takes
// another form, now and later.
func (s *System) shaped(ctx context.Context, req job.AllocRequest, call func(args []string) error) error {
	c, err := s.config(ctx)
	if err != nil {
		return err
	}
	f, _ := s.form.Load().(form)
	if !c.memory {
		f.mem = memNone
	}
	err = call(f.args(req))
	for changed := false; ; changed = true {
		next, ok := f.after(err, req)
		switch {
		case ok:
			f = next
			err = call(f.args(req))
		case err == nil && changed:
			s.form.Store(f)
			return nil
		default:
			return err
		}
	}
}

// Find returns the id of the job with this script that has not ended.
func (s *System) Find(ctx context.Context, script string) (string, error) {
	rows, err := s.table(ctx, findFields, "--me", "--states=all")
	if err != nil {
		return "", err
	}
	return findByScript(rows, script), nil
}

// Delay changes the earliest start of a pending job and the jobs that it depends on.
func (s *System) Delay(ctx context.Context, id string, w batch.Wait) error {
	_, err := s.Output(ctx, "scontrol", "update", "JobId="+id, "StartTime="+begin(w), "Dependency="+afterAny(w))
	return err
}

// Cancel cancels a job. slurmctld itself kills what does not end.
func (s *System) Cancel(ctx context.Context, id string, _ bool) error {
	_, err := s.Output(ctx, "scancel", id)
	return err
}

// Jobs asks squeue for the states of jobs, and sacct for the end of those that slurmctld has forgotten.
func (s *System) Jobs(ctx context.Context, jobs []batch.Job) (map[string]batch.Status, error) {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.ID
	}
	rows, err := s.table(ctx, watchFields, "--me", "--states=all", "--jobs="+strings.Join(ids, ","))
	if err != nil && !errors.Is(err, batch.ErrGone) {
		return nil, err
	}
	seen := parseWatched(rows)
	all := make(map[string]batch.Status, len(jobs))
	for _, j := range jobs {
		w, known := seen[j.ID]
		if w.isOther(j) {
			all[j.ID] = batch.AnotherJob
			continue
		}
		st := w.Status
		if j.Explain && (st.Phase == batch.Gone || st.Phase == batch.Ending || st.Phase == batch.Over) {
			if !known {
				w = s.account(ctx, j.ID)
			}
			st.Verdict = verdict(j, w)
		}
		all[j.ID] = st
	}
	return all, nil
}
