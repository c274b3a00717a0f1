package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/coordinator"
	"berth/internal/driver/registry"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/logfile"
)

// standInIdle is how long a stand-in with nothing to do stays.
const standInIdle = 10 * time.Second

// standInEnv returns the variables that a stand-in needs to be what this process is.
func standInEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "BERTH_") && !strings.HasPrefix(kv, "BERTH_NODE=") {
			env = append(env, kv)
		}
	}
	return env
}

// runStandIn is a stand-in where there is no coordinator, and else ends without an error: whoever
// started it tries again later. With wait it waits until nobody is left instead.
func runStandIn(cmd *cobra.Command, idle time.Duration, wait bool) error {
	if !cmd.Flags().Changed("idle") {
		idle = standInIdle
	}
	opts, err := serverOptions(logfile.Stderr(), idle)
	if err != nil {
		return err
	}
	opts.StandIn, opts.Inside = true, registry.Inside(os.Environ())
	ctx, stop := terminable(cmd.Context())
	defer stop()
	if wait {
		if err := awaitPlace(ctx, opts.Home, opts.Log); err != nil {
			return err
		}
	}
	err = coordinator.Run(ctx, opts)
	var there *home.ElsewhereError
	switch {
	case errors.Is(err, coordinator.ErrRunning), errors.Is(err, coordinator.ErrUnwanted), errors.As(err, &there):
		opts.Log.Info("no stand-in is needed", "why", err)
		return nil
	case errors.Is(err, home.ErrTakenOver):
		return nil // it has said so
	}
	return err
}

const (
	// wakeLook is how often a stand-in that waits looks whether anybody is left. It wants to
	// see nobody several times in a row: between two coordinators there is a moment without.
	wakeLook  = 2 * time.Second
	wakeLooks = 3
	// wakeSilence is how long the lock is believed to be held by somebody who does not say
	// that they are alive: a machine that died without giving its locks back, or a process
	// that was stopped. What that process would write later, it does not (home.Ownership).
	wakeSilence = 5 * time.Minute
)

// awaitPlace waits until there is no coordinator.
func awaitPlace(ctx context.Context, h home.Home, log *slog.Logger) error {
	var last *home.Owner
	free, silent := 0, time.Duration(0)
	for free < wakeLooks {
		o := h.Owner()
		switch held := h.Held(); {
		case !held:
			free++
		case o == nil || last == nil || *o != *last:
			free, silent = 0, 0
		default:
			free, silent = 0, silent+wakeLook
		}
		if last = o; silent >= wakeSilence {
			log.Warn("the coordinator holds its lock and is silent; its lock is broken", "host", o.Host, "pid", o.PID)
			if err := h.BreakLock(*o); err != nil {
				return err
			}
			silent = 0
		}
		if err := pause(ctx, wakeLook); err != nil {
			return err
		}
	}
	return nil
}

// claim is what a coordinator does to get the place of a stand-in.
type claim struct {
	home  home.Home
	left  time.Duration // how much longer the place is waited for
	asked bool
	since time.Duration // when it was asked for last, as left
}

// takeOverTime is how long a stand-in may take to end.
const takeOverTime = 90 * time.Second

// standIn reports whether a coordinator did not begin as a stand-in runs.
func (c *claim) standIn(err error) bool {
	var there *home.ElsewhereError
	if errors.As(err, &there) {
		return there.Owner.StandIn
	}
	if !errors.Is(err, coordinator.ErrRunning) {
		return false
	}
	o := c.home.Owner()
	return o != nil && o.StandIn
}

// ask asks the stand-in for its place, again each second.
func (c *claim) ask() error {
	if !c.asked {
		c.asked, c.left = true, takeOverTime
	} else if c.since-c.left < time.Second {
		return nil
	}
	c.since = c.left
	return c.home.AskForPlace()
}

// refused is the error where a stand-in does not make way.
func (c *claim) refused() error {
	e := &job.Error{Class: job.User, Code: job.CodeConfig, What: fmt.Sprintf("the stand-in coordinator has not made way for %v", takeOverTime),
		Do: "end its Slurm job with scancel, then try again"}
	if o := c.home.Owner(); o != nil {
		e.Where = o.Host
	}
	return e
}

// stopStandIn ends a stand-in, wherever it runs, and sees to it that none begins in its place.
func stopStandIn(ctx context.Context, h home.Home, o *home.Owner, force bool) error {
	if !force {
		return &job.Error{Class: job.User, Where: o.Host, What: "your coordinator runs there as a stand-in, as jobs are not over",
			Do: "cancel them, wait, or use --force: they go on with the next coordinator"}
	}
	if err := errors.Join(h.Stop(), h.Forget()); err != nil {
		return err
	}
	place := claim{home: h, left: takeOverTime, asked: true, since: takeOverTime + time.Second}
	for ; place.left > 0; place.left -= lockPause {
		if err := place.ask(); err != nil {
			return err
		}
		if h.StandIn() == nil {
			return nil
		}
		if err := pause(ctx, lockPause); err != nil {
			return err
		}
	}
	return place.refused()
}
