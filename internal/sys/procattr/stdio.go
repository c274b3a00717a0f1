package procattr

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// DetachStdio returns this process's standard input and output, and replaces them by /dev/null and standard error. So no task and no file
// that is /dev/stdin gets them, and a write to an output that nobody reads any more is an error and no signal.
func DetachStdio() (in, out *os.File, err error) {
	detach := func(fd, instead int, name string) (*os.File, error) {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(unix.SetNonblock(own, true), unix.Dup3(instead, fd, 0)); err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(own), name), nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if in, err = detach(0, int(null.Fd()), "standard input"); err == nil {
		out, err = detach(1, 2, "standard output")
	}
	return in, out, err
}
