package pbs

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// patience bounds the run time of a command: a server that is stopped lets its clients hang. Available waits less long.
const (
	patience = 2 * time.Minute
	prompt   = 20 * time.Second
)

// tools returns PBS's commands.
func (s *System) tools() *batch.Tools {
	return &batch.Tools{Path: job.Getenv(s.env, "PATH"), Env: commandEnv(s.env), Load: "log in where PBS is installed, or load its module",
		Patience: patience, Away: errAway, Classify: classify, JobID: s.JobID}
}

// run runs a command and returns its standard output, also beside an error, as qstat prints the jobs that it knows beside those
// that it does not.
func (s *System) run(ctx context.Context, name string, args ...string) (string, error) {
	return s.tools().Output(ctx, name, args...)
}

// ask runs a command in the format dsv and returns what it prints.
func (s *System) ask(ctx context.Context, name string, args ...string) ([]record, error) {
	out, err := s.run(ctx, name, append(dsv(), args...)...)
	return parseRecords(out), err
}

// Installed reports whether PBS's commands are on PATH. Grid Engine has a qsub, too, but no pbsnodes.
func (s *System) Installed() bool { return s.tools().Lacks("qsub", "pbsnodes") == nil }

// Detect reports whether this machine is part of a PBS cluster: the commands are on PATH, or there is a configuration.
func (s *System) Detect() bool {
	if s.Installed() || job.Getenv(s.env, "PBS_CONF_FILE") != "" {
		return true
	}
	_, err := os.Stat(defaultConfig)
	return err == nil
}

// Available returns nil if PBS can be used from here: its commands are on the PATH of the environment, they know the formats that this
// package reads, and a server answers.
func (s *System) Available(ctx context.Context) error {
	tools := s.tools()
	tools.Patience = prompt
	if err := tools.Lacks("qsub", "pbsnodes"); err != nil {
		return err
	}
	out, said, err := tools.Run(ctx, batch.Call{Name: "qstat", Args: append(dsv(), "-B", "-f"), Env: tools.Env})
	switch {
	case err == nil && len(parseRecords(out)) > 0:
		return nil
	case strings.Contains(said, "usage:") || strings.Contains(said, "invalid option"):
		out, said, _ := tools.Run(ctx, batch.Call{Name: "qstat", Args: []string{"--version"}, Env: tools.Env}) // an error says less than the one before
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "qstat", What: "this PBS prints no format dsv, and has no select: it is TORQUE, or older than PBS Pro 14 (" + words(out+said) + ")",
			Do: "use --on ssh with the nodes of a job that you have started yourself"}
	case err == nil:
		return &job.Error{Class: job.Transient, Where: "qstat -B", What: "no PBS server answers", Err: errAway, Do: "try again later"}
	case job.ClassOf(err) == job.Transient:
		return &job.Error{Class: job.Transient, Where: "qstat -B", What: "no PBS server answers: " + words(cmp.Or(said, err.Error())), Err: errAway, Do: "try again later"}
	}
	return err
}
