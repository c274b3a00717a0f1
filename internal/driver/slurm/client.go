package slurm

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// commandTimeout bounds the run time of a command. Slurm's commands give up after MessageTimeout, which is
// ten seconds, or more on large clusters, and some commands ask twice.
const commandTimeout = 2 * time.Minute

// tools returns Slurm's commands.
func (s *System) tools() *batch.Tools {
	return &batch.Tools{Path: job.Getenv(s.env, "PATH"), Env: commandEnv(s.env), Load: "log in where Slurm is installed, or load its module",
		Patience: commandTimeout, Away: errAway, Classify: classify, JobID: s.JobID}
}

// run runs a command and returns its standard output. classify (errors.go) makes its errors.
func (s *System) run(ctx context.Context, name string, args ...string) (string, error) {
	return s.tools().Output(ctx, name, args...)
}

// table runs squeue and returns the fields of each job.
func (s *System) table(ctx context.Context, fields []string, args ...string) ([][]string, error) {
	out, err := s.run(ctx, "squeue", append(args, tableArgs(fields)...)...)
	if err != nil {
		return nil, err
	}
	return parseTable(out, len(fields))
}

// Installed reports whether Slurm's commands are on PATH.
func (s *System) Installed() bool {
	return s.tools().Has("sbatch")
}

// Detect reports whether this machine is part of a Slurm cluster: the commands are on PATH, or
// there is a configuration. Available checks whether Slurm can be used.
func (s *System) Detect() bool {
	if s.Installed() || job.Getenv(s.env, "SLURM_CONF") != "" {
		return true
	}
	_, err := os.Stat(defaultConfig)
	return err == nil
}

// defaultConfig is the first file in which Slurm's commands look for their configuration if SLURM_CONF is unset.
const defaultConfig = "/etc/slurm/slurm.conf"

// Available returns nil if Slurm can be used from here: its commands are on the PATH of the
// environment, and a controller answers. Otherwise it returns the reason as an error.
func (s *System) Available(ctx context.Context) error {
	if err := s.tools().Lacks("sbatch"); err != nil {
		return err
	}
	if names := job.Getenv(s.env, "SLURM_CLUSTERS"); names == "all" || strings.Contains(names, ",") {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "SLURM_CLUSTERS", What: fmt.Sprintf("%q names several clusters, but berth plans a job for the queue of one cluster", names),
			Do: "name one of them (sacctmgr show cluster lists them)"}
	}
	out, err := s.run(ctx, "scontrol", "ping")
	if answers(out) {
		return nil // scontrol fails even if only one of several controllers is down
	}
	if err != nil && strings.Contains(err.Error(), "Could not establish a configuration source") {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "scontrol ping", What: "Slurm's commands are installed, but no cluster is configured",
			Do: "set SLURM_CONF, or load Slurm's module"}
	}
	if err == nil || strings.Contains(out, " is DOWN") {
		return &job.Error{Class: job.Transient, Where: "scontrol ping", What: "no Slurm controller answers: " + words(out), Err: errAway, Do: "try again later"}
	}
	return err
}
