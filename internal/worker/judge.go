package worker

import (
	"errors"
	"syscall"

	"berth/internal/event"
	"berth/internal/mapreduce/input"
	"berth/internal/process"
)

// batch reports whether a batch system runs this node.
func (w *worker) batch() bool { return w.cfg.Token != "" }

// judge returns how an attempt ended that ended with err. What is broken for all on the
// coordinator's own machine may be this node's alone on another, a file system that is not
// mounted say: then it is a failure like any other, and the task is tried again, elsewhere
// if possible.
func (w *worker) judge(err error) *process.Failure {
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
