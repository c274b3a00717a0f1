package slurm

import (
	"slices"
	"strings"

	"berth/internal/job"
)

// keptVariables are those that name the cluster, or prove who asks.
var keptVariables = []string{"SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"}

// slurmPrefixes begin the names of variables that are options of Slurm's commands, or
// describe the job that a process is part of.
var slurmPrefixes = []string{"SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "SACCT_"}

// commandEnv returns the environment for Slurm's commands: that of the user without
// what would change what they print or do. Options that a user keeps in SBATCH_… come
// with the request (Defaults), as the plan has to know them.
func commandEnv(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "LC_ALL" || ofSlurm(name)
	})
	return append(kept, "LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0")
}

func ofSlurm(name string) bool {
	return !slices.Contains(keptVariables, name) &&
		slices.ContainsFunc(slurmPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// jobVariables are what a worker gets of the user's environment, beside Slurm's own. Tasks
// have the environment of their job's spec; the worker needs little.
var jobVariables = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "LD_LIBRARY_PATH", "SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"}

// jobEnv returns the environment that sbatch is called with and hands on to the job:
// credentials that a user's environment may hold have no business on the nodes.
func jobEnv(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(jobVariables, name)
	})
	return append(kept, "SLURM_TIME_FORMAT=%s")
}

// Defaults returns what a user's environment says of every job of theirs, in the
// variables that sbatch(1) knows. A request that says it itself wins.
func (s *System) Defaults() job.Batch {
	return job.Batch{
		Partition: job.Getenv(s.env, "SBATCH_PARTITION"), Account: job.Getenv(s.env, "SBATCH_ACCOUNT"),
		QOS: job.Getenv(s.env, "SBATCH_QOS"), Constraint: job.Getenv(s.env, "SBATCH_CONSTRAINT"),
	}
}
