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

// errAway, as job.Error.Err, says that the qmaster does not answer. It is unknown whether it carried out the request.
var errAway = errors.New("the qmaster of Grid Engine does not answer")

// tools returns the caller of Grid Engine's commands.
func (s *System) tools(patience time.Duration) *batch.Tools {
	return &batch.Tools{Path: job.Getenv(s.env, "PATH"), Env: commandEnv(s.env), Load: "log in where Grid Engine is installed, or source its settings.sh",
		Patience: patience, Away: errAway, Classify: classify, JobID: s.JobID}
}

// run runs a command and returns its standard output. classify makes its errors.
func (s *System) run(ctx context.Context, name string, args ...string) (string, error) {
	return s.tools(s.patience).Output(ctx, name, args...)
}

// keptVariables are the variables that name the cluster. A job gets them from its node.
var keptVariables = []string{"SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT", "SGE_CLUSTER_NAME", "SGE_ARCH"}

// commandEnv returns the environment for the commands: the user's without variables that describe the job that a process is part
// of, with times in UTC, which qstat prints without a time zone.
func commandEnv(env []string) []string {
	return batch.Environ(env, func(name string) bool {
		return name == "LC_ALL" || name == "TZ" || strings.HasPrefix(name, "SGE_") && !slices.Contains(keptVariables, name)
	}, "LC_ALL=C", "TZ=UTC0")
}

// Installed reports whether Grid Engine's commands are on PATH. PBS has a qsub, too, but no qconf.
func (s *System) Installed() bool { return s.tools(s.patience).Lacks("qsub", "qconf") == nil }

// Detect reports whether this machine belongs to a Grid Engine cluster: its commands are on PATH, or SGE_ROOT is set.
func (s *System) Detect() bool { return s.Installed() || job.Getenv(s.env, "SGE_ROOT") != "" }

// Available returns nil if the commands are on PATH and the qmaster answers.
func (s *System) Available(ctx context.Context) error {
	t := s.tools(availableTimeout)
	if err := t.Lacks("qsub", "qconf"); err != nil {
		return err
	}
	_, err := t.Output(ctx, "qconf", "-sss")
	var e *job.Error
	if errors.As(err, &e) && errors.Is(err, errAway) {
		e.Do = "try again later"
	}
	return err
}

// common is the folder of the cell's files that all machines of the cluster see.
func (s *System) common() string {
	return filepath.Join(job.Getenv(s.env, "SGE_ROOT"), cmp.Or(job.Getenv(s.env, "SGE_CELL"), "default"), "common")
}

// Defaults returns nothing: qsub itself reads the files in which users and sites keep options for all jobs.
func (s *System) Defaults() (job.Batch, []string) { return job.Batch{}, nil }
