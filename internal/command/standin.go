package command

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/driver/registry"
	"berth/internal/node/process"
	"berth/internal/server/coordinator"
	"berth/internal/server/leader"
	"berth/internal/sys/logfile"
)

// standInIdle is how long a stand-in with nothing to do stays.
const standInIdle = 10 * time.Second

// standInEnv returns the variables that a stand-in needs to be what this process is.
func standInEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "BERTH_") && !process.OfTask(kv) {
			env = append(env, kv)
		}
	}
	return env
}

// runStandIn is a stand-in where there is no coordinator, and else ends without an error: whoever
// started it tries again later. With wait it waits until nobody is left instead.
func runStandIn(cmd *cobra.Command, policies leader.Policies, idle time.Duration, wait bool) error {
	if !cmd.Flags().Changed("idle") {
		idle = standInIdle
	}
	opts, err := serverOptions(logfile.Stderr(), policies, idle)
	if err != nil {
		return err
	}
	opts.StandIn, opts.Inside = true, registry.Inside(os.Environ())
	ctx, stop := terminable(cmd.Context())
	defer stop()
	if wait {
		if err := leader.Of(opts.Home).Await(ctx, opts.Log); err != nil {
			return err
		}
	}
	err = coordinator.Run(ctx, opts)
	var there *leader.ElsewhereError
	switch {
	case errors.Is(err, leader.ErrTaken), errors.Is(err, coordinator.ErrUnwanted), errors.As(err, &there):
		opts.Log.Info("no stand-in is needed", "why", err)
		return nil
	case errors.Is(err, leader.ErrTakenOver):
		return nil // it has said so
	}
	return err
}

// stopStandIn ends a stand-in, wherever it runs, and sees to it that none begins in its place.
func stopStandIn(ctx context.Context, place leader.Seat, o *leader.Owner, force bool) error {
	if !force {
		return job.UserError(o.Host, "your coordinator runs there as a stand-in, because jobs are not over",
			"cancel the jobs, wait for them, or use --force; with --force they continue under the next coordinator")
	}
	if err := errors.Join(place.Stop(), place.Forget()); err != nil {
		return err
	}
	for claim := place.Claim(0); ; {
		if err := claim.Ask(); err != nil {
			return err
		}
		if place.StandIn() == nil {
			return nil
		}
		if claim.Late() {
			return claim.Refused()
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
