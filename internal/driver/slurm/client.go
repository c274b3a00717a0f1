package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/procattr"
)

// commandTimeout bounds the run time of a command. Slurm's commands give up after MessageTimeout, which is
// ten seconds, or more on large clusters, and some commands ask twice.
const commandTimeout = 2 * time.Minute

// run runs a command and returns its standard output. classify (errors.go) makes its errors.
func (s *System) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd, err := s.command(ctx, name, args...)
	if err != nil {
		return "", err
	}
	defer cmd.cancel()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), cmd.failure(said.String(), err)
	}
	return out.String(), nil
}

// command is one call of a Slurm command.
type command struct {
	*exec.Cmd
	ctx    context.Context
	cancel context.CancelFunc
}

// command prepares a call that ends after commandTimeout.
func (s *System) command(ctx context.Context, name string, args ...string) (command, error) {
	path := procattr.LookPath(job.Getenv(s.env, "PATH"), "/", name)
	if path == "" {
		return command{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: name,
			What: "the command is not on PATH", Do: "log in where Slurm is installed, or load its module"}
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = commandEnv(s.env)
	cmd.Args[0] = name // its messages begin with this name
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	return command{cmd, ctx, cancel}, nil
}

// failure returns the error of a failed command, made from its standard error.
func (c command) failure(said string, err error) error {
	name := c.Path[strings.LastIndexByte(c.Path, '/')+1:]
	var exit *exec.ExitError
	switch {
	case errors.Is(c.ctx.Err(), context.DeadlineExceeded):
		return &job.Error{Class: job.Transient, Where: name, What: fmt.Sprintf("no answer within %v", commandTimeout), Err: errAway}
	case c.ctx.Err() != nil:
		return &job.Error{Class: job.Transient, Where: name, What: "interrupted", Err: c.ctx.Err()}
	case !errors.As(err, &exit):
		return &job.Error{Class: job.Fatal, Where: c.Path, What: "cannot be run", Err: err}
	}
	return classify(name, said)
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
	return procattr.LookPath(job.Getenv(s.env, "PATH"), "/", "sbatch") != ""
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
	if !s.Installed() {
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "sbatch", What: "the command is not on PATH",
			Do: "log in where Slurm is installed, or load its module"}
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
