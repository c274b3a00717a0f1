package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// A Unix socket's address holds 107 bytes, a state folder's path may be longer.
// Both ends therefore name the socket through a descriptor of its folder.

// Listen listens on a Unix socket; what an earlier coordinator left there is removed.
func Listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove the old control socket: %w", err)
	}
	var l net.Listener
	err := through(path, func(short string) error {
		var err error
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the short name is no more
	return l, os.Chmod(path, 0o600)
}

// dial connects to a Unix socket.
func dial(ctx context.Context, path string) (net.Conn, error) {
	var c net.Conn
	err := through(path, func(short string) error {
		var err error
		c, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	return c, err
}

func through(path string, use func(short string) error) error {
	dir, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return &job.Error{Class: job.User, Code: job.CodeIO, What: "the coordinator cannot be reached", Err: err,
			Do: "set XDG_STATE_HOME to a folder of your own"}
	}
	defer func() { _ = dir.Close() }()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}
