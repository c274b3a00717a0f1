package pbs

import (
	"cmp"
	"context"
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

// ask runs a command in the format dsv and returns what it prints.
func (s *System) ask(ctx context.Context, name, args string) ([]record, error) {
	out, err := s.Output(ctx, strings.Fields(dsv(name, args))...)
	return parseRecords(out), err
}

// Available returns nil if PBS can be used from here: its commands are on the PATH of the environment, they know the formats that this
// package reads, and a server answers.
func (s *System) Available(ctx context.Context) error {
	tools := s.Tools
	tools.Patience = prompt
	if err := tools.Lacks(); err != nil {
		return err
	}
	out, said, err := tools.Run(ctx, batch.Call{Name: "qstat", Args: strings.Fields(dsv("", "-B -f")), Env: tools.Env})
	switch {
	case err == nil && len(parseRecords(out)) > 0:
		return nil
	case strings.Contains(said, "usage:") || strings.Contains(said, "invalid option"):
		out, said, _ := tools.Run(ctx, batch.Call{Name: "qstat", Args: []string{"--version"}, Env: tools.Env}) // an error says less than the one before
		return job.ConfigError("qstat", "this PBS prints no format dsv, and has no select: it is TORQUE, or older than PBS Pro 14 ("+words(out+said)+")", "use --on ssh with the nodes of a job that you have started yourself")
	case err == nil:
		return job.TransientError("qstat -B", "no PBS server answers", batch.ErrAway).Advice("try again later")
	case job.ClassOf(err) == job.Transient:
		return job.TransientError("qstat -B", "no PBS server answers: "+words(cmp.Or(said, err.Error())), batch.ErrAway).Advice("try again later")
	}
	return err
}
