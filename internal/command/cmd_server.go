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
	c := &cobra.Command{
		Use:   "server",
		Short: "Start, stop or show your coordinator",
		Long: `The coordinator is one process for each user. It writes the journals, talks to the
workers and decides which task runs where. Commands start it when they need it, and it
ends after one minute without work, so you rarely need this command.

Workers on this machine connect to it by a socket in your state folder. Once a job goes to
a batch system it listens on all interfaces, too, at any free port. BERTH_LISTEN sets another
address as HOST, HOST:PORT or HOST:FROM-TO, for example if a firewall allows only some
ports. A worker that connects needs a key, which only your files contain.

Your jobs share the nodes on which they can run. With --order fifo, jobs run in the
order of submission. With --order shortest, the job with the least predicted remaining
work is first, so that short jobs do not wait for long ones. It stops no attempt, and
the time that a job has waited counts for it, so that long jobs also run. The default,
auto, is shortest on a cluster and fifo on this machine.

--scheduler names the policy that places tasks on nodes. cores gives a task whole cores
from its start to its end, except for the shuffle of a reduce. phases decides again for
each phase of a task, by its demand of cores, memory, disk and network, so that a task
releases what its next phase does not need. prism does the same as described in the paper
on PRISM. These two weigh performance against fairness between jobs, phases:alpha=0.5
with half the usual weight.

--straggler-rule names the rule that finds slow tasks while they run: that of berth, that of the paper
NO², or none (docs/stragglers.md). berth-lab has schedulers and rules of other systems as well, for
comparison. The option --stragglers of a job says what to do about them.

An allocation is released when the job that requested it is done, if your other jobs
have requests of their own. With --keep it stays as long as any of your jobs can use
it, which is faster for you but slower for other users of the cluster.

The folder of a job that is over is removed after 1000 newer jobs were submitted, but not
within a day of its end. --keep-runs sets another number, without the limit of a day. The
row in the accuracy report and the measurements stay. berth forget removes a folder at once.

The values of --order, --scheduler, --straggler-rule, --keep, --keep-runs and --stand-in are used until berth server
stop, also by coordinators that commands start later. The variables BERTH_ORDER, BERTH_SCHEDULER,
BERTH_STRAGGLER_RULE, BERTH_KEEP (1 or 0) and BERTH_STAND_IN override them for a coordinator that is started
by a command with these variables.

If several login nodes share your home folder, the coordinator runs on one of them. On the
others, berth says which one that is.

Jobs on a cluster continue without the coordinator, for example after a logout: a worker
starts a stand-in on its own node, and if no allocation is left, a small batch job starts
one. The next command replaces the stand-in by a coordinator. --stand-in nodes starts no
small job, --stand-in off starts no stand-in at all.`,
		Example: "  berth server status\n  berth server stop",
	}
	c.AddCommand(newServerStart(policies), newServerStop(), newServerStatus(), newServerRun(policies))
	return group(c)
}

func newServerStart(policies leader.Policies) *cobra.Command {
	p := policy{policies: policies}
	var log fromLog
	c := &cobra.Command{
		Use: "start", Short: "Start the coordinator in the background, if none runs", Args: NoArguments,
		Example: "  berth server start\n  berth server start --order shortest\n  berth server start --scheduler phases\n  berth server start --keep --keep-runs 200",
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
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
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "End the coordinator", Args: NoArguments,
		Long: `End the coordinator. Workers continue their attempts and wait for the next
coordinator, which the next command starts. It also continues jobs that are not over.
If there are such jobs, --force is needed. With --force, a coordinator that does not answer within 15 seconds is killed.

The values of the flags of berth server start are removed, even if no coordinator runs.`,
		Example: "  berth server stop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := statedir.Existing()
			if err != nil {
				return err
			}
			err = stopServer(cmd, h, force)
			place := leader.Of(h)
			if o := place.StandIn(); o != nil && errors.Is(err, control.ErrNoServer) {
				return stopStandIn(cmd.Context(), place, o, force)
			}
			if errors.Is(err, control.ErrNoServer) {
				_ = ui.Say(cmd.ErrOrStderr(), "no coordinator is running")
				return place.Forget()
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "end the coordinator even if jobs are not over")
	return c
}

// stopServer asks the coordinator to end. With force it is killed if it does not answer.
func stopServer(cmd *cobra.Command, h statedir.Home, force bool) error {
	c := control.NewClient(h.Socket())
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
	return &cobra.Command{
		Use: "status", Short: "Show whether the coordinator runs", Args: NoArguments,
		Example: "  berth server status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := statedir.Existing()
			if err != nil {
				return err
			}
			return printServer(cmd, h, control.NewClient(h.Socket()))
		},
	}
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
	return show(cmd, s, func(w io.Writer) error {
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
	var readyFD, standIn, wait bool
	var idle time.Duration
	p := policy{policies: policies}
	c := &cobra.Command{
		Use: "run", Short: "Run the coordinator in the foreground", Args: NoArguments,
		Example: "  berth server run --idle 0",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if standIn {
				return runStandIn(cmd, policies, idle, wait)
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
	c.Flags().BoolVar(&readyFD, "ready-fd", false, "write to descriptor 3 when it listens")
	c.Flags().DurationVar(&idle, "idle", serverIdle, "end after this time without work; 0: never")
	c.Flags().BoolVar(&standIn, "as-stand-in", false, "carry on inside a batch job where nobody is left, until a command wants the place")
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
