package plant

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// change is the result of waitid(2) for a process: it has stopped or ended.
type change struct {
	pid    int
	code   int // CLD_TRAPPED, …
	status int // for a stop: the signal, and above it the event of ptrace
}

// The codes of changes (sigaction(2)).
const (
	cldExited = 1
	cldDumped = 3
)

func (c change) ended() bool {
	return cldExited <= c.code && c.code <= cldDumped // killed is between them
}

// awaitStop waits until a process stops or ends. It leaves an end to be waited for again; the pid of the result is 0 if the process stopped and was
// then killed.
func awaitStop(kind, id int) (change, error) {
	c, err := await(kind, id, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT)
	if err != nil || c.ended() {
		return c, err
	}
	return await(unix.P_PID, c.pid, unix.WSTOPPED|unix.WNOHANG)
}

// await waits for a change of a tracee or child of this thread. With WNOHANG the pid of the result
// is 0 if there is none.
func await(kind, id, options int) (change, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(kind, id, &info, options|unix.WALL|unix.WNOTHREAD, nil)
		if err == unix.EINTR {
			continue
		}
		b := (*[28]byte)(unsafe.Pointer(&info)) // the fields of SIGCHLD
		word := func(at int) int { return int(int32(binary.NativeEndian.Uint32(b[at:]))) }
		return change{pid: word(16), code: word(8), status: word(24)}, err
	}
}
