// Command berth runs MapReduce jobs and bags of tasks on this machine, a Slurm cluster, hosts of ssh or rented machines.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"berth/internal/control"
	"berth/internal/ui"
)

func main() {
	ctx := control.WithNotice(context.Background(), func(text string) { fmt.Fprintln(os.Stderr, "berth: "+text) })
	err := newRoot().ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) {
		err = &exitError{code: exitCode(err), err: errors.New("interrupted")}
	}
	if err != nil && err.Error() != "" {
		ui.Error(os.Stderr, err, ui.Detect(os.Stderr, false, os.Getenv).Color)
	}
	os.Exit(exitCode(err))
}

// interruptible returns a context that an interrupt cancels, for commands that have
// something under way to end well. Before that an interrupt just ends them, whatever
// they read or plan. Any other signal ends a command and leaves its job alone.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(parent, os.Interrupt)
}

// terminable returns a context that a request to end cancels, for processes that stay.
func terminable(parent context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(parent, syscall.SIGTERM, os.Interrupt)
}
