package slurm

import (
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/node/process"
)

// keptVariables are the variables that name the cluster or authenticate the user.
var keptVariables = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"}

// slurmVariables are variables that are options of Slurm's commands, or that describe the job that a process is part of.
var slurmVariables = driver.Says(`^(SLURMD?|SBATCH|SRUN|SALLOC|SQUEUE|SINFO|SCANCEL|SCONTROL|SACCT)_`)

// commandEnv returns the environment for Slurm's commands: the user's environment without
// variables that would change what the commands print or do. Options in SBATCH_… variables are part
// of the request instead (Defaults), as the plan must know them.
func commandEnv(env []string) []string {
	return job.ReplaceEnv(env, func(name string) bool { return name == "LC_ALL" || ofSlurm(name) },
		"LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0")
}

func ofSlurm(name string) bool {
	return !slices.Contains(keptVariables, name) && slurmVariables(name)
}

// jobVariables are the variables of the user's environment that a worker gets, beside Slurm's own. Tasks
// get the environment in their job's spec; the worker itself needs little.
var jobVariables = strings.Fields("PATH HOME USER LOGNAME SHELL LANG TZ LD_LIBRARY_PATH TMPDIR SLURM_CONF SLURM_CLUSTERS SLURM_JWT")

// jobEnv returns the environment in which sbatch is called and which sbatch gives to the job.
// Credentials in the user's environment must not reach the nodes.
func jobEnv(env []string) []string {
	env = job.ReplaceEnv(env, func(name string) bool { return !slices.Contains(jobVariables, name) }, "SLURM_TIME_FORMAT=%s")
	return append(env, process.NewSubmitted(env))
}

// Defaults returns the options that the user's environment sets for every job, in the variables
// that sbatch(1) documents. Options of the request have priority. Those that berth chooses itself are named.
func (s *System) Defaults() (b job.Batch, notes []string) {
	b = job.Batch{
		Partition: job.Getenv(s.User, "SBATCH_PARTITION"), Account: job.Getenv(s.User, "SBATCH_ACCOUNT"),
		QOS: job.Getenv(s.User, "SBATCH_QOS"), Constraint: job.Getenv(s.User, "SBATCH_CONSTRAINT"),
	}
	for variable, does := range defaults.All() {
		if value := job.Getenv(s.User, variable); value != "" && strings.HasPrefix(does, "--") {
			b.Args = append(b.Args, does+"="+value)
		} else if value != "" {
			notes = append(notes, variable+"="+value+" of your shell has no effect: "+does)
		}
	}
	return b, notes
}

// defaults are further variables that sbatch(1) documents: the option that each of them gives to all jobs, or what berth uses instead. Those
// that are not here say nothing of where a job runs, or what it has there.
const defaults driver.Table = `
SBATCH_RESERVATION = --reservation
SBATCH_WCKEY = --wckey
SBATCH_HINT = --hint
SBATCH_THREADS_PER_CORE = --threads-per-core
SBATCH_DELAY_BOOT = --delay-boot
SBATCH_TIMELIMIT = berth chooses the wall time (--max-time bounds it)
SBATCH_EXCLUSIVE = give --exclusive
SBATCH_CLUSTERS = name one cluster in SLURM_CLUSTERS
SBATCH_MEM_PER_CPU = give the memory of a task by --mem
SBATCH_MEM_PER_NODE = give the memory of a task by --mem
SBATCH_MEM_PER_GPU = give the memory of a task by --mem
SBATCH_GPUS = give the GPUs of a task by --gpus, and other resources by --sbatch-arg=--gres=…
SBATCH_GPUS_PER_NODE = give the GPUs of a task by --gpus, and other resources by --sbatch-arg=--gres=…
SBATCH_GPUS_PER_TASK = give the GPUs of a task by --gpus, and other resources by --sbatch-arg=--gres=…
SBATCH_GRES = give the GPUs of a task by --gpus, and other resources by --sbatch-arg=--gres=…
`

// coresOf returns how many cores of this host the batch job has that a process with this environment is part of (sbatch(1),
// OUTPUT ENVIRONMENT VARIABLES). A task of a step, and one of berth, has those of a task.
func coresOf(env []string, _ string) (c driver.BatchCores) {
	if job.Getenv(env, "SLURM_JOB_ID") == "" {
		return c
	}
	c.Least("SLURM_CPUS_ON_NODE", driver.Number(env, "SLURM_CPUS_ON_NODE"))
	if driver.Number(env, "SLURM_JOB_NUM_NODES") <= 1 { // of several nodes it has a list, and which is this one is unknown
		c.Least("SLURM_JOB_CPUS_PER_NODE", driver.Number(env, "SLURM_JOB_CPUS_PER_NODE"))
	}
	tasks := max(1, driver.Number(env, "SLURM_TASKS_PER_NODE"))
	if job.Getenv(env, "SLURM_STEP_ID") != "" || job.Getenv(env, "BERTH_TASK_ID") != "" {
		tasks = 1
	}
	c.Least("SLURM_CPUS_PER_TASK", driver.Number(env, "SLURM_CPUS_PER_TASK")*tasks)
	return c
}
