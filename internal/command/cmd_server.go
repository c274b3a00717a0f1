package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/coordinator"
	"berth/internal/server/leader"
	"berth/internal/show/ui"
	"berth/internal/sys/logfile"
	"berth/internal/sys/procattr"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// serverIdle is how long a coordinator with nothing to do stays.
const serverIdle = time.Minute

func newServer(policies leader.Policies) *cobra.Command {
	return group(command("server", nil, nil), newServerStart(policies), newServerStop(), newServerStatus(), newServerRun(policies))
}

func newServerStart(policies leader.Policies) *cobra.Command {
	p := policy{policies: policies}
	var log fromLog
	c := command("server start", NoArguments, func(cmd *cobra.Command, _ []string) error {
		said, err := p.said(cmd)
		if err != nil {
			return err
		}
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		if err := log.read(cmd, h); err != nil {
			return err
		}
		return startServer(cmd, h, said)
	})
	p.flags(c)
	log.flag(c)
	return c
}

// startServer starts a coordinator by that policy, or finds that the one which runs goes by
// it: then that is remembered, as it may have been the environment that said so.
func startServer(cmd *cobra.Command, h statedir.Home, said leader.Choice) error {
	c, err := control.Ensure(cmd.Context(), h, said.Args()...)
	if err != nil {
		return err
	}
	hello, err := c.Hello(cmd.Context())
	if err != nil {
		return err
	}
	if err := checkPolicy(said, hello); err != nil {
		return err
	}
	if err := leader.Of(h).Choose(said); err != nil {
		return err
	}
	return printServer(cmd, h, c)
}

func newServerStop() *cobra.Command {
	var o struct {
		Force bool `flag:"force" usage:"end the coordinator even if jobs are not over"`
	}
	c := command("server stop", NoArguments, func(cmd *cobra.Command, _ []string) error {
		h, err := statedir.Existing()
		if err != nil {
			return err
		}
		err = stopServer(cmd, h, o.Force)
		place := leader.Of(h)
		if there := place.StandIn(); there != nil && errors.Is(err, control.ErrNoServer) {
			return stopStandIn(cmd.Context(), place, there, o.Force)
		}
		if errors.Is(err, control.ErrNoServer) {
			_ = ui.Say(cmd.ErrOrStderr(), "no coordinator is running")
			return place.Forget()
		}
		return err
	})
	addFlags(c.Flags(), &o)
	return c
}

// stopServer asks the coordinator to end. With force it is killed if it does not answer.
func stopServer(cmd *cobra.Command, h statedir.Home, force bool) error {
	c := control.NewClient(h)
	return control.Again(cmd.Context(), func() error {
		if !force {
			return c.Stop(cmd.Context(), false)
		}
		killed, err := c.ForceStop(cmd.Context())
		if killed > 0 {
			_ = ui.Say(cmd.ErrOrStderr(), "the coordinator (process %d) did not answer, and was killed; its log is %s", killed, h.ServerLog())
		}
		return err
	})
}

func newServerStatus() *cobra.Command {
	return command("server status", NoArguments, func(cmd *cobra.Command, _ []string) error {
		h, err := statedir.Existing()
		if err != nil {
			return err
		}
		return printServer(cmd, h, control.NewClient(h))
	})
}

// printServer says what the coordinator behind the client is, or that none runs, and what
// the user has chosen for those that follow.
func printServer(cmd *cobra.Command, h statedir.Home, c *control.Client) error {
	var s control.Server
	err := control.Again(cmd.Context(), func() (err error) {
		s.Hello, err = c.Hello(cmd.Context())
		return err
	})
	if s.Running = !errors.Is(err, control.ErrNoServer); err != nil && s.Running {
		return err
	}
	if !s.Running {
		s.There = leader.Of(h).StandIn()
	}
	if s.Chosen, err = leader.Of(h).Choice(); err != nil {
		return err
	}
	return Show(cmd, s, func(w io.Writer) error {
		for line := range strings.SplitSeq(strings.TrimSuffix(serverText(s), "\n"), "\n") {
			if err := ui.Say(w, "%s", line); err != nil {
				return err
			}
		}
		return nil
	})
}

func serverText(s control.Server) string {
	text, kept := "no coordinator is running\n", ""
	if s.Keep {
		kept = ", allocations kept"
	}
	if s.KeepRuns != nil {
		kept += ", " + leader.RunsText(s.KeepRuns)
	}
	if s.Running {
		text = fmt.Sprintf("coordinator %d runs since %s: %s not over, order %s%s, scheduler %s, %s, listening on %s\n",
			s.PID, s.Started, job.Count(s.Jobs, "job"), s.Order, kept, s.Scheduler, job.Count(s.Nodes, "worker"), s.Address)
	}
	for _, l := range s.Limits {
		text += "limit of " + l.Words() + "\n"
	}
	switch {
	case s.Running && s.StandIn:
		text = "stand-in " + text
	case s.There != nil:
		text = fmt.Sprintf("a stand-in coordinator runs on %s (process %d) since %s, inside a batch job: the next command that needs it takes its place\n",
			s.There.Host, s.There.PID, s.There.Started.Format(time.RFC3339))
	}
	if chosen := s.Chosen.Words(); chosen != "" {
		text += "chosen until berth server stop: " + chosen + "\n"
	}
	return text
}

func newServerRun(policies leader.Policies) *cobra.Command {
	var o struct {
		ReadyFD bool `flag:"ready-fd" usage:"write to descriptor 3 when it listens"`
		StandIn bool `flag:"as-stand-in" usage:"carry on inside a batch job where nobody is left, until a command wants the place"`
		Wait    bool `flag:"wait" usage:"with --as-stand-in: wait until nobody is left"`
	}
	var idle time.Duration
	p := policy{policies: policies}
	c := command("server run", NoArguments, func(cmd *cobra.Command, _ []string) error {
		if o.StandIn {
			return runStandIn(cmd, policies, idle, o.Wait)
		}
		var ready *os.File
		if o.ReadyFD {
			ready = os.NewFile(control.ReadyFD, "ready")
		}
		err := runServer(cmd, idle, p, ready)
		if err != nil && ready != nil {
			_ = json.NewEncoder(ready).Encode(control.Failure(err)) // who started it may be gone
		}
		return err
	})
	addFlags(c.Flags(), &o)
	c.Flags().DurationVar(&idle, "idle", serverIdle, "end after this time without work; 0: never")
	p.flags(c)
	for _, name := range []string{"ready-fd", "as-stand-in", "wait"} {
		_ = c.Flags().MarkHidden(name)
	}
	return c
}

func runServer(cmd *cobra.Command, idle time.Duration, p policy, ready *os.File) error {
	to := cmd.ErrOrStderr()
	if ready != nil { // in the background, with a log of its own
		procattr.NeutralProcess()
		to = logfile.Stderr()
	}
	opts, err := serverOptions(to, p.policies, idle)
	if err != nil {
		return err
	}
	if opts.Said, err = p.said(cmd); err != nil {
		return err
	}
	opts.Ready = func() {
		if ready != nil {
			_, _ = ready.WriteString(control.Ready) // who started it may be gone
			_ = ready.Close()
		}
	}
	ctx, stop := terminable(cmd.Context())
	defer stop()
	if ready == nil {
		return coordinator.Run(ctx, opts)
	}
	return runOrFind(ctx, opts)
}

// serverOptions returns the options of a coordinator that the environment sets.
func serverOptions(log io.Writer, p leader.Policies, idle time.Duration) (coordinator.Options, error) {
	env, err := environment(p)
	if err != nil {
		return coordinator.Options{}, err
	}
	after, err := coordinator.ParseTime(standInAfterVar, os.Getenv(standInAfterVar), coordinator.DefaultStandInAfter)
	if err != nil {
		return coordinator.Options{}, err
	}
	look, err := coordinator.ParseTime(lookVar, os.Getenv(lookVar), 0)
	if err != nil {
		return coordinator.Options{}, err
	}
	h, err := statedir.Open()
	if err != nil {
		return coordinator.Options{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return coordinator.Options{}, fmt.Errorf("find berth's own program: %w", err)
	}
	return coordinator.Options{Home: h, Exe: exe, Idle: idle, Listen: os.Getenv(wire.ListenVar), Env: env, Policies: p,
		Log:          slog.New(slog.NewTextHandler(log, nil)),
		StandInAfter: after, StandInEnv: standInEnv(), AssessEvery: look}, nil
}

// lockTime is how long who holds the lock is waited for to listen or to go.
const lockTime = 30 * time.Second

// runOrFind runs the coordinator, or reports ready if another coordinator listens. The
// process that has the lock may be starting, or be ending after a kill. A stand-in is
// asked to end.
func runOrFind(ctx context.Context, opts coordinator.Options) error {
	claim := leader.Of(opts.Home).Claim(lockTime)
	for {
		err := coordinator.Run(ctx, opts)
		switch standIn := claim.Blocked(err); {
		case !standIn && !errors.Is(err, leader.ErrTaken):
			return err
		case claim.Late() && standIn:
			return claim.Refused()
		case claim.Late():
			return err
		case standIn:
			if err := claim.Ask(); err != nil {
				return err
			}
		default:
			if hello, err := control.NewClient(opts.Home).Hello(ctx); err == nil && !hello.StandIn {
				opts.Ready()
				return nil
			}
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

const lockPause = 20 * time.Millisecond

func pause(ctx context.Context) error {
	select {
	case <-time.After(lockPause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
