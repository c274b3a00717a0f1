package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Unix socket's address holds 107 bytes, and the path of a folder may be longer. Both ends therefore name the socket
// through a descriptor of its folder.

// Listen listens on a Unix socket of mode 0600, whose folder has to be one that only this user can enter. What an
// earlier process left under that name is removed; the listener does not remove the socket when it is closed.
func Listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	var l *net.UnixListener
	err := through(path, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // the short name is no more
	return l, os.Chmod(path, 0o600)
}

// Dial connects to a Unix socket. Where its folder cannot be opened the error is an *fs.PathError.
func Dial(ctx context.Context, path string) (c net.Conn, err error) {
	err = through(path, func(short string) (err error) {
		c, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	return c, err
}

// through calls use with a name of the path that is short enough.
func through(path string, use func(short string) error) error {
	dir, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}
