package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/coordinator"
	"berth/internal/home"
	"berth/internal/logfile"
	"berth/internal/seat"
	"berth/internal/wire"
)

// serverIdle is how long a coordinator with nothing to do stays.
const serverIdle = time.Minute

func newServer() *cobra.Command {
	c := &cobra.Command{
		Use:   "server",
		Short: "Start, stop or look at your coordinator",
		Long: `The coordinator is one process a user: it keeps the journals, talks to the
workers and decides what runs where. Commands that need it start it, and it ends
when it has had nothing to do for a minute, so this command is rarely needed.

It listens for workers on this machine alone, or on all its interfaces where Slurm
is installed, at any port that is free. BERTH_LISTEN says otherwise, as HOST,
HOST:PORT or HOST:FROM-TO, where a firewall leaves some ports open, say. Whoever
dials has to have keys, which are files of yours.

Jobs of yours that can run on the same nodes share them. In the order fifo those
that came first go first. In the order shortest those go first that have the least
work left, as predicted, so that short jobs do not wait for long ones; nothing that
runs is stopped for it, and time spent waiting counts, so that long jobs get their
turn. The order auto, the default, is shortest on a cluster and fifo on this machine.

--scheduler names the policy that places tasks on nodes. cores gives a task whole cores
from its beginning to its end, but for a reduce's shuffle. phases decides anew for each
phase of a task, by what it takes of cores, memory, disk and network, so that a task gives
back what its next phase does not take; prism does so as the paper on PRISM has it. slots,
containers and packing are what other systems do, to compare with: fixed numbers of map and
reduce tasks a node, containers as large as the largest phase, and tasks packed by their
largest demands.

--straggler-rule names the rule that says which tasks are slow while they run: berth's own, or
one of others, to compare with (docs/stragglers.md). What is done about them a job says (--stragglers).

What a job asked of a cluster is given back when that job is done, where other jobs
of yours have asked for their own. With --keep it stays as long as any job of yours
can use it: good for you, and not for the others on the cluster.

The folder of a job that is over is removed once 1000 newer jobs were submitted, but not
within a day of its end; --keep-runs says another number, which then counts alone. Its
place in the accuracy report and what was measured in it stay. berth forget removes at once.

What --order, --scheduler, --straggler-rule, --keep, --keep-runs and --stand-in say lasts until berth server
stop, also for coordinators that commands start after this one has died or had nothing to do.
BERTH_ORDER, BERTH_SCHEDULER, BERTH_STRAGGLER_RULE, BERTH_KEEP=1 or 0, and BERTH_STAND_IN go before that: for the
coordinator that a command with them starts.

Of several login nodes that share your home one has the coordinator; on the others
berth says which one that is.

With jobs on a cluster it does not matter whether the coordinator stays: when it is
gone, at logout say, a worker starts another as a stand-in on its own node, and when no
allocation is left a small job wakes one. The next command takes the place back.
--stand-in nodes leaves out the small job, --stand-in off both.`,
		Example: "  berth server status\n  berth server stop",
	}
	c.AddCommand(newServerStart(), newServerStop(), newServerStatus(), newServerRun())
	return group(c)
}

func newServerStart() *cobra.Command {
	var p policy
	c := &cobra.Command{
		Use: "start", Short: "Start the coordinator in the background, if none runs", Args: noArguments,
		Example: "  berth server start\n  berth server start --order shortest\n  berth server start --scheduler phases\n  berth server start --keep --keep-runs 200",
		RunE: func(cmd *cobra.Command, _ []string) error {
			said, err := p.said(cmd)
			if err != nil {
				return err
			}
			h, err := home.Open()
			if err != nil {
				return err
			}
			return startServer(cmd, h, said)
		},
	}
	p.flags(c)
	return c
}

// startServer starts a coordinator by that policy, or finds that the one which runs goes by
// it: then that is remembered, as it may have been the environment that said so.
func startServer(cmd *cobra.Command, h home.Home, said seat.Choice) error {
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
	if err := seat.Of(h).Choose(said); err != nil {
		return err
	}
	return printServer(cmd, h, c)
}

func newServerStop() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "End the coordinator", Args: noArguments,
		Long: `End the coordinator. Workers go on with what they run and wait for the next
one, which the next command starts; jobs that are not over go on with it. So with
such jobs --force is wanted.

What these flags of berth server start said is forgotten, also if no coordinator runs.`,
		Example: "  berth server stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Existing()
			if err != nil {
				return err
			}
			err = control.Again(cmd.Context(), func() error { return control.NewClient(h.Socket()).Stop(cmd.Context(), force) })
			place := seat.Of(h)
			if o := place.StandIn(); o != nil && errors.Is(err, control.ErrNoServer) {
				return stopStandIn(cmd.Context(), place, o, force)
			}
			if errors.Is(err, control.ErrNoServer) {
				fmt.Fprintln(cmd.ErrOrStderr(), "no coordinator is running")
				return place.Forget()
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "though jobs are not over")
	return c
}

func newServerStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether the coordinator runs", Args: noArguments,
		Example: "  berth server status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.Existing()
			if err != nil {
				return err
			}
			return printServer(cmd, h, control.NewClient(h.Socket()))
		},
	}
}

// printServer says what the coordinator behind the client is, or that none runs, and what
// the user has chosen for those that follow.
func printServer(cmd *cobra.Command, h home.Home, c *control.Client) error {
	var s control.Server
	err := control.Again(cmd.Context(), func() (err error) {
		s.Hello, err = c.Hello(cmd.Context())
		return err
	})
	if s.Running = !errors.Is(err, control.ErrNoServer); err != nil && s.Running {
		return err
	}
	if !s.Running {
		s.There = seat.Of(h).StandIn()
	}
	if s.Chosen, err = seat.Of(h).Choice(); err != nil {
		return err
	}
	return show(cmd, s, func(w io.Writer) error {
		_, err := fmt.Fprint(w, serverText(s))
		return err
	})
}

func serverText(s control.Server) string {
	text, kept := "no coordinator is running\n", ""
	if s.Keep {
		kept = ", allocations kept"
	}
	if s.KeepRuns != nil {
		kept += ", " + seat.RunsText(s.KeepRuns)
	}
	if s.Running {
		text = fmt.Sprintf("coordinator %d runs since %s: %d jobs not over, order %s%s, scheduler %s, %d workers, listening on %s\n",
			s.PID, s.Started, s.Jobs, s.Order, kept, s.Scheduler, s.Nodes, s.Address)
	}
	switch {
	case s.Running && s.StandIn:
		text = "stand-in " + text
	case s.There != nil:
		text = fmt.Sprintf("a stand-in coordinator runs on %s (process %d) since %s, inside a Slurm job: the next command that needs it takes its place\n",
			s.There.Host, s.There.PID, s.There.Started.Format(time.RFC3339))
	}
	if chosen := s.Chosen.Words(); chosen != "" {
		text += "chosen until berth server stop: " + chosen + "\n"
	}
	return text
}

func newServerRun() *cobra.Command {
	var readyFD, standIn, wait bool
	var idle time.Duration
	var p policy
	c := &cobra.Command{
		Use: "run", Short: "Be the coordinator, in the foreground", Args: noArguments,
		Example: "  berth server run --idle 0",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if standIn {
				return runStandIn(cmd, idle, wait)
			}
			var ready *os.File
			if readyFD {
				ready = os.NewFile(control.ReadyFD, "ready")
			}
			err := runServer(cmd, idle, p, ready)
			if err != nil && ready != nil {
				_ = json.NewEncoder(ready).Encode(control.Failure(err)) // who started it may be gone
			}
			return err
		},
	}
	c.Flags().BoolVar(&readyFD, "ready-fd", false, "say on descriptor 3 when it listens")
	c.Flags().DurationVar(&idle, "idle", serverIdle, "end after so long with nothing to do; 0: never")
	c.Flags().BoolVar(&standIn, "as-stand-in", false, "carry on inside a Slurm job where nobody is left, until a command wants the place")
	c.Flags().BoolVar(&wait, "wait", false, "with --as-stand-in: wait until nobody is left")
	p.flags(c)
	for _, name := range []string{"ready-fd", "as-stand-in", "wait"} {
		_ = c.Flags().MarkHidden(name)
	}
	return c
}

func runServer(cmd *cobra.Command, idle time.Duration, p policy, ready *os.File) error {
	to := cmd.ErrOrStderr()
	if ready != nil { // in the background, with a log of its own
		to = logfile.Stderr()
	}
	opts, err := serverOptions(to, idle)
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

// serverOptions returns what a coordinator is made with by its environment.
func serverOptions(log io.Writer, idle time.Duration) (coordinator.Options, error) {
	env, err := environment()
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
	h, err := home.Open()
	if err != nil {
		return coordinator.Options{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return coordinator.Options{}, fmt.Errorf("find berth's own program: %w", err)
	}
	return coordinator.Options{Home: h, Exe: exe, Idle: idle, Listen: os.Getenv(wire.ListenVar), Env: env,
		Log:          slog.New(slog.NewTextHandler(log, nil)),
		StandInAfter: after, StandInEnv: standInEnv(), AssessEvery: look}, nil
}

// lockTime is how long who holds the lock is waited for to listen or to go.
const lockTime = 30 * time.Second

// runOrFind is the coordinator, or says that it is ready where there is another
// that listens. Who has the lock may just be starting, or be dying of a kill. A stand-in
// is asked for its place.
func runOrFind(ctx context.Context, opts coordinator.Options) error {
	claim := seat.Of(opts.Home).Claim(lockTime)
	for {
		err := coordinator.Run(ctx, opts)
		switch standIn := claim.Blocked(err); {
		case !standIn && !errors.Is(err, seat.ErrTaken):
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
			if hello, err := control.NewClient(opts.Home.Socket()).Hello(ctx); err == nil && !hello.StandIn {
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
