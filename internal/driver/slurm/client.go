package slurm

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// commandTimeout bounds the run time of a command. Slurm's commands give up after MessageTimeout, which is
// ten seconds, or more on large clusters, and some commands ask twice.
const commandTimeout = 2 * time.Minute

// table runs squeue and returns the fields of each job.
func (s *System) table(ctx context.Context, fields []string, args ...string) ([][]string, error) {
	out, err := s.Output(ctx, append(strings.Fields(squeue(fields)), args...)...)
	if err != nil {
		return nil, err
	}
	return parseTable(out, len(fields))
}

// defaultConfig is the first file in which Slurm's commands look for their configuration if SLURM_CONF is unset.
const defaultConfig = "/etc/slurm/slurm.conf"

// Available returns nil if Slurm can be used from here: its commands are on the PATH of the
// environment, and a controller answers. Otherwise it returns the reason as an error.
func (s *System) Available(ctx context.Context) error {
	if err := s.Lacks(); err != nil {
		return err
	}
	if names := job.Getenv(s.User, "SLURM_CLUSTERS"); names == "all" || strings.Contains(names, ",") {
		return job.ConfigError("SLURM_CLUSTERS", fmt.Sprintf("%q names several clusters, but berth plans a job for the queue of one cluster", names), "name one of them (sacctmgr show cluster lists them)")
	}
	out, err := s.Output(ctx, "scontrol", "ping")
	if strings.Contains(out, " is UP") {
		return nil // scontrol fails even if only one of several controllers is down
	}
	if err != nil && strings.Contains(err.Error(), "Could not establish a configuration source") {
		return job.ConfigError("scontrol ping", "Slurm's commands are installed, but no cluster is configured", "set SLURM_CONF, or load Slurm's module")
	}
	if err == nil || strings.Contains(out, " is DOWN") {
		return job.TransientError("scontrol ping", "no Slurm controller answers: "+words(out), batch.ErrAway).Advice("try again later")
	}
	return err
}
