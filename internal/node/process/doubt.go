package process

import (
	"context"
	"syscall"
	"time"
)

// When a batch system ends an allocation, or a machine shuts down, the tasks are signalled as well
// as their worker, in no defined order: with SIGTERM, and with SIGKILL later or at once. Such an
// end is not the task's failure. A failure that could have this cause is therefore reported only
// when the worker has not been signalled itself within a delay. A task that was killed because
// memory ran out has failed in that case. While a failure is in doubt its task keeps its slot, so the delay is long only for
// programs that a signal has ended, which few do by themselves.
const (
	// signalDoubt is the delay under a batch system for a program that was ended by a signal.
	signalDoubt = 2 * time.Second
	// statusDoubt is the delay for any exit status under a batch system: a program may catch
	// SIGTERM and end with any status. The signals to one node are sent almost at the same time. Without a batch
	// system it is the delay for a program that was ended by a signal: a machine that shuts down signals shells as well as what
	// they run, so there a status says nothing.
	statusDoubt = 100 * time.Millisecond
	// exitSignal plus the number of a signal is the exit status of a shell whose command was ended
	// by that signal (POSIX XCU 2.8.2: more than 128; all shells in use add 128).
	exitSignal = 128
)

// doubt returns how long Believe waits before the failure counts as the task's own.
func (f *Failure) doubt(batch bool) time.Duration {
	switch signalled := f.Signal == int(syscall.SIGTERM) || f.Signal == int(syscall.SIGKILL); {
	case batch && signalled:
		return signalDoubt
	case batch, signalled:
		return statusDoubt
	}
	return 0
}

// Believe waits until the failure is certainly the program's own and returns it. If ctx ends first,
// it returns the cause of that. batch says that a batch system controls this node.
func (f *Failure) Believe(ctx context.Context, batch bool) error {
	timer := time.NewTimer(f.doubt(batch))
	defer timer.Stop()
	select {
	case <-timer.C:
		return f
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
