package control

import (
	"errors"
	"io/fs"
	"net"

	"berth/internal/core/job"
	"berth/internal/sys/private"
)

// Listen listens on a Unix socket. It removes a socket that an earlier coordinator left.
func Listen(path string) (net.Listener, error) {
	l, err := private.Listen(path)
	return l, unreachable(err)
}

// unreachable returns an error with advice for a folder that cannot be opened. If the folder does not exist, no
// coordinator runs.
func unreachable(err error) error {
	var folder *fs.PathError
	if !errors.As(err, &folder) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return job.IOError(job.User, "", "the coordinator cannot be reached", err).Advice("set XDG_STATE_HOME to a folder of your own")
}
