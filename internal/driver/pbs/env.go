package pbs

import (
	"cmp"
	"context"
	"os"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// defaultConfig is the configuration of PBS's commands if PBS_CONF_FILE is unset.
const defaultConfig = "/etc/pbs.conf"

// changing are variables that would change what the commands print or do. Options in PBS_QSUB_ARGS are part of the request instead
// (Defaults), as the plan must know them.
var changing = driver.Says(`^(LC_ALL|TZ|PBS_QSUB_ARGS|PBS_DPREFIX)$`)

// commandEnv returns the environment for PBS's commands.
func commandEnv(env []string) []string {
	return job.ReplaceEnv(env, changing, "LC_ALL=C", "TZ=UTC")
}

// Defaults returns the queue and the account in PBS_QSUB_ARGS, which qsub(1) reads.
func (s *System) Defaults() (b job.Batch, notes []string) {
	for _, option := range placeOptions().FindAllStringSubmatch(job.Getenv(s.User, "PBS_QSUB_ARGS"), -1) {
		b.Partition, b.Account = cmp.Or(option[1], b.Partition), cmp.Or(option[2], b.Account)
	}
	return b, nil
}

// placeOptions has the queue and the account in options of qsub.
var placeOptions = pattern.Lazy(`(?:^|\s)(?:-q\s*(\S+)|-A\s*(\S+))`)

// setting returns a value of the configuration: of the environment, else of its file.
func (s *System) setting(name string) string {
	if v := job.Getenv(s.User, name); v != "" {
		return v
	}
	text, _ := os.ReadFile(s.configFile()) // without a file, PBS has defaults
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

func (s *System) configFile() string {
	return cmp.Or(job.Getenv(s.User, "PBS_CONF_FILE"), defaultConfig)
}

// clusterID returns an id of the cluster that a server manages, from where the commands reach it.
func (s *System) clusterID(server string) string {
	return batch.ClusterID(server, s.setting("PBS_SERVER"), s.setting("PBS_BATCH_SERVICE_PORT"))
}

// me returns the user for whom this process runs, with the groups.
func (s *System) me(ctx context.Context) account {
	return account{batch.UserName(s.User), s.Groups(ctx)}
}

// exports returns shell lines that give a job's script the configuration of the user's environment.
func (s *System) exports() string {
	if file := job.Getenv(s.User, "PBS_CONF_FILE"); file != "" {
		return "PBS_CONF_FILE=" + job.Quote(file) + "\nexport PBS_CONF_FILE\n"
	}
	return ""
}

// coresOf returns how many cores of this host the batch job has that a process with this environment is part of.
func coresOf(env []string, _ string) (c driver.BatchCores) {
	if job.Getenv(env, "PBS_JOBID") != "" {
		c.Least("NCPUS", driver.Number(env, "NCPUS"))
	}
	return c
}
