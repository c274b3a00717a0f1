package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/sys/private"
	"berth/internal/sys/probe"
	"berth/internal/sys/statedir"
)

const (
	// answerTime is how long the answer to a question is waited for, and that to the request to end.
	answerTime = 15 * time.Second
	// workTime is how long the answer to a change is waited for, as that may need a batch system or many files.
	workTime = 5 * time.Minute
	// deathTime is how long the end of a process that was killed is waited for.
	deathTime = 5 * time.Second
)

// errSilent is the cause of the end of a call that took too long.
var errSilent = errors.New("no answer in time")

// patience returns how long the answer to a request is waited for.
func (c *Client) patience(route string) time.Duration {
	switch {
	case c.limit > 0:
		return c.limit
	case strings.HasPrefix(route, "GET ") || strings.HasPrefix(route, "POST /v1/server"):
		return answerTime
	}
	return workTime
}

// silent returns the error for a coordinator that accepts connections and has not answered for that time.
func (c *Client) silent(waited time.Duration) error {
	name := "your coordinator"
	if pid, err := listener(c.home); err == nil {
		name += fmt.Sprintf(" (process %d)", pid)
	}
	return job.TransientError("server", fmt.Sprintf("%s has not answered for %v: it is stopped, or waits for a disk or a file system", name, waited), errSilent).
		Advice(fmt.Sprintf("look at its log %s, and try again; if that does not help, end it with: berth server stop --force (jobs that are not over go on under the next coordinator)",
			c.home.ServerLog()))
}

// Silent reports whether an error says that the coordinator did not answer in time.
func Silent(err error) bool { return errors.Is(err, errSilent) }

// Kill kills the coordinator of the state folder, which does not answer, and waits for its end. The kernel says which
// process listens on the socket, so no other process is killed.
func Kill(h statedir.Home) (pid int, err error) {
	if pid, err = listener(h); err != nil {
		return 0, err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("open process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// The process listens still, so the descriptor is not of a later process with its number.
	if again, err := listener(h); err != nil || again != pid {
		return 0, errors.Join(ErrNoServer, err)
	}
	ended, err := probe.Kill(fd, deathTime)
	if err != nil {
		return 0, fmt.Errorf("kill process %d: %w", pid, err)
	}
	if !ended {
		return 0, job.TransientError(fmt.Sprintf("process %d", pid),
			"your coordinator was killed and has not ended: it waits in the kernel, usually for a file system that does not answer", nil).
			Advice("bring that file system back, or restart the machine; the jobs go on under the next coordinator")
	}
	return pid, nil
}

// listener returns the process that listens on the socket of the state folder (unix(7), SO_PEERCRED).
func listener(h statedir.Home) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deathTime)
	defer cancel()
	conn, err := private.Dial(ctx, h.Socket())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil || err != nil {
		return 0, errors.Join(e, err)
	}
	return int(peer.Pid), nil
}

// ForceStop asks the coordinator to end, even if jobs are not over, and kills it if it does not answer. killed is its
// process then.
func (c *Client) ForceStop(ctx context.Context) (killed int, err error) {
	if err = c.Stop(ctx, true); !Silent(err) {
		return 0, err
	}
	if killed, err = Kill(c.home); err != nil {
		return 0, err
	}
	return killed, leader.Of(c.home).Forget()
}
