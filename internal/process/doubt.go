package process

import (
	"context"
	"syscall"
	"time"
)

// A batch system that ends an allocation, or a machine that is shut down, signals the tasks
// as well as their worker, in no certain order: SIGTERM, and SIGKILL later or, told so, at
// once. Such an end is no failure of the task. So one that looks like it is believed only
// when the worker has lived on, untold, for a while; a task killed for want of memory is
// a failure then.
const (
	// signalDoubt is for a program that a signal ended, or that says so in its status.
	signalDoubt = 2 * time.Second
	// statusDoubt is for any other status, in a batch system: a program may catch
	// SIGTERM and end with whatever it likes. Signals to one node are sent within moments.
	statusDoubt = 100 * time.Millisecond
	// exitSignal is added to the number of a signal by shells whose command it ended
	// (POSIX XCU 2.8.2: more than 128; all in use add 128).
	exitSignal = 128
)

// doubt returns how long it takes to be sure that the failure is the task's own.
func (f *Failure) doubt(batch bool) time.Duration {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if f.Signal == int(sig) || f.Exit == exitSignal+int(sig) {
			return signalDoubt
		}
	}
	if batch {
		return statusDoubt
	}
	return 0
}

// Believe returns the failure once it is sure to be the program's own, or why ctx was ended
// meanwhile. batch says that a batch system runs this node.
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
