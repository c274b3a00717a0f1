package process

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// BatchVariables knows the environment variables of batch systems and launchers of ranks.
type BatchVariables struct {
	Systems []SystemVariables
	// Node is the environment of a worker that a batch system started; nil: it runs where the user's command or ssh started it.
	Node []string
}

// threads is the environment variable with the number of threads that a program should use.
const threads = "OMP_NUM_THREADS"

// taskNames are the variables that berth sets for tasks. Only these are removed from what a task of berth submits: other
// names that begin with BERTH_ are the user's.
var taskNames = []string{cookieName, taskBatchJob, "BERTH_JOB_ID", "BERTH_TASK_ID", "BERTH_ATTEMPT", "BERTH_TASK_DIR", "BERTH_DIR", "BERTH_ENTRY", "BERTH_MEM",
	"BERTH_RANKS", "BERTH_NODES", "BERTH_HOSTFILE", "BERTH_RANK", "BERTH_LOCAL_RANK", "BERTH_LAUNCH", "BERTH_LAUNCH_KEY",
	"BERTH_DEADLINE", "BERTH_STAGE", "BERTH_PARTS", "BERTH_PART", "BERTH_INPUT", "BERTH_OUTPUT", "BERTH_PARTS_FOLDER", "BERTH_JOB_INPUT", "BERTH_JOB_OUTPUT",
	"BERTH_KEEP_PARTS", "BERTH_HQ_HOME", "BERTH_HQ_FLAGS", "BERTH_SCRIPT", Submitted}

// OfTask reports whether a variable is one that berth sets for a task, or for itself. What a task starts for other jobs must not have it.
func OfTask(kv string) bool { return slices.Contains(taskNames, nameOf(kv)) }

// Submitted is the variable with the environment with which a batch job was submitted, as NewSubmitted writes it. It is set where the batch
// system gives that environment to the job: a worker whose environment differs has the rest from the site, which sets variables in a
// prolog or a plugin.
const Submitted = "BERTH_SUBMITTED"

// NewSubmitted returns that variable for an environment.
func NewSubmitted(env []string) string {
	text, _ := json.Marshal(env) // strings never fail
	return Submitted + "=" + string(text)
}

// Temporary are the variables with folders that may exist only on one machine, or only for one job.
var Temporary = []string{"TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR"}

// personal are variables that no site sets for a job: those of the user, of the shell and the batch system's own scripts, and those that say
// what of a node a process may use, which berth itself gives to tasks.
var personal = []string{"HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "SHLVL", "_", "ENVIRONMENT", "HOSTNAME", "LC_ALL", threads,
	"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"}

// Place says with what and where a task runs: its cores and memory, and the folder of its job.
type Place struct {
	Need job.Resources
	Dir  string
}

// TaskEnv returns the environment of a task: the user's environment without what describes an allocation or another task; on a node
// of a batch system what the site has set there, and what describes the task's own allocation; own, the cookie, and the number of
// threads. Without that number many programs start one thread for each core of the machine. Each name occurs only once, because
// programs differ in which of two values they use.
func (c Cookie) TaskEnv(v BatchVariables, user []string, at Place, own ...string) []string {
	user = v.strip(user)
	env := Merge(user, v.ofSite(user), v.ofAllocation(at))
	inJob := v.batchJob(env)
	own = append(own, string(c), taskBatchJob+"="+inJob)
	if _, set := job.LookupEnv(user, threads); !set {
		own = append(own, threads+"="+strconv.Itoa(at.Need.CPUs))
	}
	return slices.Clip(Merge(env, own))
}

// Indexes returns the names of the variables with the index of a task of a job array.
func (v BatchVariables) Indexes() (names []string) {
	for _, s := range v.Systems {
		if s.Index != "" {
			names = append(names, s.Index)
		}
	}
	return names
}

// strip returns an environment without what describes an allocation or a task of berth. What describes the job in which the user works stays
// where berth runs there, too: the tasks are part of it.
func (v BatchVariables) strip(env []string) []string {
	drop := []func(kv string) bool{OfTask}
	for i := range v.Systems {
		s := &v.Systems[i]
		if launcher := s.Job == ""; launcher || v.Node != nil {
			drop = append(drop, s.Describing(env))
		} else {
			drop = append(drop, func(kv string) bool { return nameOf(kv) == s.Index })
		}
	}
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return slices.ContainsFunc(drop, func(is func(string) bool) bool { return is(kv) })
	})
}

// ofSite returns the variables that the site or the batch system has set for the worker's job, with the values for a task of a user with this
// environment. In a list to which the site has added, as to PATH, the user's own list replaces the one that was submitted.
func (v BatchVariables) ofSite(user []string) (set []string) {
	var submitted []string
	told := json.Unmarshal([]byte(job.Getenv(v.Node, Submitted)), &submitted) == nil
	for _, kv := range v.strip(v.Node) {
		name, value, _ := strings.Cut(kv, "=")
		before, given := job.LookupEnv(submitted, name)
		if !told && !slices.Contains(Temporary, name) || slices.Contains(personal, name) || given && before == value {
			continue
		}
		first, last, added := strings.Cut(":"+value+":", ":"+before+":")
		if own, has := job.LookupEnv(user, name); has && added && before != "" {
			value = strings.Trim(first+":"+own+":"+last, ":")
		}
		set = append(set, name+"="+value)
	}
	return set
}

// ofAllocation returns the variables that describe a task's own allocation.
func (v BatchVariables) ofAllocation(at Place) []string {
	if s := v.active(); s != nil {
		return s.OfTask(v.Node, at.Need, at.Dir)
	}
	return nil
}

// Merge returns the variables of all lists, each name once, with its last value.
func Merge(lists ...[]string) []string {
	var all []string
	index := map[string]int{}
	for _, kv := range slices.Concat(lists...) {
		name := nameOf(kv)
		if i, known := index[name]; known {
			all[i] = kv
			continue
		}
		index[name] = len(all)
		all = append(all, kv)
	}
	return all
}

func nameOf(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
}
