package gridengine

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// Bounds of the run time of a command, as the commands wait forever for a qmaster that is stopped. Available has the shorter one.
const (
	commandTimeout   = time.Minute
	availableTimeout = 20 * time.Second
)

// qstat prints the jobs of a user, or of all users ("*"), with a row for each slot of the running ones.
func qstat(user string) string { return "qstat -u " + user + " -r -g t -urg -pri -xml" }

// qstatDetails prints more of the jobs with these numbers.
func qstatDetails(numbers []string) string { return "qstat -j " + strings.Join(numbers, ",") + " -xml" }

// unlessEmpty returns the error of a command that fails also if there is nothing to print, if that is not the reason.
func unlessEmpty(err error) error {
	if job.ClassOf(err) == job.User {
		return nil
	}
	return err
}

// keptVariables are the variables that name the cluster. A job gets them from its node.
var keptVariables = strings.Fields("SGE_ROOT SGE_CELL SGE_QMASTER_PORT SGE_EXECD_PORT SGE_CLUSTER_NAME SGE_ARCH")

// commandEnv returns the environment for the commands: the user's without variables that describe the job that a process is part
// of, with times in UTC, which qstat prints without a time zone.
func commandEnv(env []string) []string {
	return job.ReplaceEnv(env, func(name string) bool {
		return name == "LC_ALL" || name == "TZ" || strings.HasPrefix(name, "SGE_") && !slices.Contains(keptVariables, name)
	}, "LC_ALL=C", "TZ=UTC0")
}

// Available returns nil if the commands are on PATH and the qmaster answers.
func (s *System) Available(ctx context.Context) error {
	t := s.Tools
	t.Patience = availableTimeout
	if err := t.Lacks(); err != nil {
		return err
	}
	_, err := t.Output(ctx, "qconf", "-sss")
	var e *job.Error
	if errors.As(err, &e) && errors.Is(err, batch.ErrAway) {
		e.Do = "try again later"
	}
	return err
}

// common is the folder of the cell's files that all machines of the cluster see.
func (s *System) common() string {
	return filepath.Join(job.Getenv(s.User, "SGE_ROOT"), cmp.Or(job.Getenv(s.User, "SGE_CELL"), "default"), "common")
}

// Defaults returns nothing: qsub itself reads the files in which users and sites keep options for all jobs.
func (s *System) Defaults() (job.Batch, []string) { return job.Batch{}, nil }
