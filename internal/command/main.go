// Package command is berth's command line: one file a command. It reads flags and job files, and calls the packages that do the work.
package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"berth/internal/node/gang"
	"berth/internal/server/control"
	"berth/internal/show/ui"
)

// Main runs the command line of this process, with what its program adds to that of berth, and returns its exit code.
func Main(extra Extra) int {
	if gang.IsAgent(os.Args[0]) {
		return gang.Main(os.Args[1:], os.Getenv(gang.KeyVariable))
	}
	ctx := control.WithNotice(context.Background(), func(text string) { _ = ui.Say(os.Stderr, "berth: %s", text) })
	err := rootFor(extra, os.Args[1:]).ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) {
		err = &exitError{code: ExitCode(err), err: errors.New("interrupted")}
	}
	if err != nil && err.Error() != "" {
		ui.Error(os.Stderr, err, ui.Detect(os.Stderr, false, os.Getenv).Color)
	}
	return ExitCode(err)
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
