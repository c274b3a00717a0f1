package pbs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/pattern"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// Name is the batch system's name, as in --on.
const Name = "pbs"

// System reaches PBS by its commands in one environment.
type System struct {
	batch.Tools
}

// Open returns PBS as it is reached in an environment. It runs no command.
func Open(env []string) *System {
	return &System{batch.Tools{User: env, Env: commandEnv(env), Needed: []string{"qsub", "pbsnodes"}, Variable: "PBS_CONF_FILE", Config: defaultConfig,
		Load: "log in where PBS is installed, or load its module", Patience: patience, Classify: classify, ID: jobID}}
}

// jobID finds the id in qsub's output, as in "7.pbs". Grid Engine has a qsub, too, but no pbsnodes.
var jobID = pattern.Lazy(`^([0-9]+\.\S+)$`)

// Words returns PBS's own names.
func (s *System) Words() driver.BatchWords {
	return driver.BatchWords{
		System: "PBS", Controller: "the PBS server", Ask: "qstat -B", Cancel: "qdel", List: []string{"qstat", "qselect"},
		Mark:      "#PBS",
		Variables: variables,
		Cores:     coresOf,
		Where:     []string{"-A", "-P", "-q", "-Wgroup_list"},
		BatchSystem: parse.BatchSystem{
			Name: Name, Flag: "pbs-arg", Command: "qsub",
			Own: strings.Split("select|-lselect|-l select|place|-lplace|-l place|walltime|-lwalltime|-l walltime|nodes|-lnodes|-l nodes|"+
				"ncpus|-lncpus|-l ncpus|mem|-lmem|-l mem|-J|-a|-o|-e|-j|-k|-S|-v|-V|-I|-X|-r|-f|-z|depend|-Wdepend|-W depend|block|-Wblock|-W block", "|"),
			Choose: "name one cluster in the environment: export PBS_CONF_FILE=FILE, or PBS_SERVER=NAME", NoQOS: true,
		},
	}
}

// Submit submits a job. qsub writes the job's id directly to out.
func (s *System) Submit(ctx context.Context, sub batch.Submission, out *os.File) (string, error) {
	shape, err := shapeArgs(sub.Request)
	if err != nil {
		return "", err
	}
	args := slices.Concat(shape, ownArgs(sub), waitArgs(sub.Wait, time.Now()), []string{sub.Script})
	return s.Tools.Submit(ctx, batch.Call{Name: "qsub", Args: args, Env: s.Env, Out: out})
}

// Find returns the id of the user's job with this script's mark that has not ended.
func (s *System) Find(ctx context.Context, script string) (string, error) {
	jobs, err := s.jobs(ctx, "-f")
	for _, r := range jobs {
		if r.marked(script) {
			return r.name(), nil
		}
	}
	return "", err
}

// marked reports whether a job was submitted with this script.
func (r record) marked(script string) bool {
	return slices.Contains(strings.Split(r["Variable_List"], ","), mark+"="+filepath.Base(script))
}

// isOther reports whether a job was submitted with another script than the one with this id that is asked for.
func (r record) isOther(j batch.Job) bool {
	script, _ := batch.Submitted(j.Dir)
	return script != "" && r["Variable_List"] != "" && !r.marked(script)
}

// Delay changes the earliest start of a pending job and the jobs that it depends on.
func (s *System) Delay(ctx context.Context, id string, w batch.Wait) error {
	_, err := s.Output(ctx, slices.Concat([]string{"qalter"}, waitArgs(w, time.Now()), []string{id})...)
	return err
}

// Cancel deletes a job. If that did not end it before, as PBS takes its end for done while processes of it are left, they get SIGKILL.
func (s *System) Cancel(ctx context.Context, id string, again bool) error {
	_, err := s.Output(ctx, "qdel", id)
	if err == nil && again {
		_, err = s.Output(ctx, "qsig", "-s", "KILL", id)
	}
	return err
}

// Jobs asks for the states of jobs, and asks the history for those that have ended. A server without a history knows nothing of them.
func (s *System) Jobs(ctx context.Context, jobs []batch.Job) (map[string]batch.Status, error) {
	seen := make(map[string]record, len(jobs))
	for _, ask := range []string{"-f", "-x -f"} {
		if len(seen) == len(jobs) {
			break
		}
		for _, j := range jobs {
			if _, is := seen[j.ID]; !is {
				ask += " " + j.ID
			}
		}
		records, err := s.jobs(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			seen[r.name()] = r
		}
	}
	all := make(map[string]batch.Status, len(jobs))
	for _, j := range jobs {
		st := batch.Status{} // batch.Gone
		switch r, is := seen[j.ID]; {
		case is && r.isOther(j):
			st = batch.AnotherJob
		case is:
			st = r.status(job.TimeOf(time.Now()))
			if j.Explain && st.Verdict.Reason == "" && (st.Phase == batch.Ending || st.Phase == batch.Over) {
				st.Verdict = verdict(j, r)
			}
		}
		all[j.ID] = st
	}
	return all, nil
}

// jobs returns those of the jobs that qstat knows. Some may have ended meanwhile, and those of others may be hidden.
func (s *System) jobs(ctx context.Context, args string) ([]record, error) {
	records, err := s.ask(ctx, "qstat", args)
	if errors.Is(err, batch.ErrGone) {
		err = nil
	}
	return records, err
}
