// Command berth takes a MapReduce job or a bag of tasks to where it is done soonest.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"berth/internal/ui"
)

func main() {
	ctx, stop := interruptible(context.Background())
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && err.Error() != "" {
		ui.Error(os.Stderr, err, ui.Detect(os.Stderr, false, os.Getenv).Color)
	}
	os.Exit(exitCode(err))
}

// interruptible returns a context that an interrupt cancels. Any other signal ends
// a command and leaves its job alone.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(parent, os.Interrupt)
}

// terminable returns a context that a request to end cancels, for processes that stay.
func terminable(parent context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(parent, syscall.SIGTERM)
}
