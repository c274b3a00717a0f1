package worker

import (
	"errors"
	"syscall"

	"berth/internal/core/event"
	"berth/internal/mapreduce/input"
	"berth/internal/node/process"
)

// batch reports whether a batch system runs this node.
func (w *worker) batch() bool { return w.cfg.Token != "" }

// outcome returns how an attempt ended that ended with err. An error that would break the job on
// the coordinator's own machine may concern only this node on another, for example a file system
// that is not mounted. Then it is an ordinary failure, and the task is tried again, elsewhere if
// possible.
func (w *worker) outcome(err error) *process.Failure {
	f := process.FailureOf(err)
	switch {
	case f.Outcome != event.Broken:
	case w.far():
		return w.judgeFar(f, err)
	case w.away.Load() && ofNode(err):
		return process.Failed("%s", f.Reason)
	}
	return f
}

// ofNode reports whether an error may occur on one node and not on others: an error of an input
// file that has not changed, or of a path that does not exist or has the wrong type.
func ofNode(err error) bool {
	var in *input.InputError
	if errors.As(err, &in) {
		return !errors.As(err, new(input.Difference))
	}
	return process.IsAny(err, syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.EPERM, syscall.EROFS,
		syscall.EIO, syscall.ESTALE, syscall.ENODEV, syscall.ENXIO, syscall.ENOTCONN, syscall.EHOSTDOWN, syscall.ETIMEDOUT)
}
