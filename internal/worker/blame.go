package worker

import (
	"context"
	"errors"
	"syscall"
	"time"

	"berth/internal/event"
	"berth/internal/mapreduce/input"
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
func (f *failure) doubt(batch bool) time.Duration {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if f.signal == int(sig) || f.exit == exitSignal+int(sig) {
			return signalDoubt
		}
	}
	if batch {
		return statusDoubt
	}
	return 0
}

// blame returns the failure of an attempt's program once it is sure to be its own, or why
// the attempt was ended meanwhile.
func (w *worker) blame(a *attempt, f *failure) error {
	timer := time.NewTimer(f.doubt(w.cfg.Token != ""))
	defer timer.Stop()
	select {
	case <-timer.C:
		return f
	case <-a.ctx.Done():
		return context.Cause(a.ctx)
	}
}

// judge returns how an attempt ended that ended with err. What is broken for all on the
// coordinator's own machine may be this node's alone on another, a file system that is not
// mounted say: then it is a failure like any other, and the task is tried again, elsewhere
// if possible.
func (w *worker) judge(err error) *failure {
	f := failureOf(err)
	if f.outcome == event.Broken && w.away.Load() && ofNode(err) {
		return failed("%s", f.reason)
	}
	return f
}

// ofNode reports whether an error may be had on one node and not on others: that of an
// input file, whatever it is, and that of a path which is not there, or not as it should be.
func ofNode(err error) bool {
	var in *input.InputError
	if errors.As(err, &in) {
		return true
	}
	for _, e := range []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.EPERM, syscall.EROFS,
		syscall.EIO, syscall.ESTALE, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN, syscall.EHOSTDOWN, syscall.ETIMEDOUT} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
