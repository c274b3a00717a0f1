package private

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The address of a Unix socket may have at most 107 bytes, and the path of a folder may be longer. So both ends name
// the socket through a descriptor of its folder: /proc/self/fd/N/NAME.

// Listen listens on a Unix socket of mode 0600. Only this user may be able to enter the folder of the socket. Listen
// removes a socket that an earlier process left there. The listener does not remove the socket when it is closed.
func Listen(path string) (net.Listener, error) {
	if err := os.RemoveAll(path); err != nil {
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
	l.SetUnlinkOnClose(false) // the short name is not valid any more
	return l, os.Chmod(path, 0o600)
}

// Dial connects to a Unix socket. If its folder cannot be opened, the error is an *fs.PathError.
func Dial(ctx context.Context, path string) (c net.Conn, err error) {
	err = through(path, func(short string) (err error) {
		c, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	return c, err
}

// through calls use with a short name of the path, which is valid during the call.
func through(path string, use func(short string) error) error {
	dir, err := os.OpenFile(filepath.Dir(path), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)))
}
