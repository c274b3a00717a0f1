package plant

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Run runs a program to its end as a child of this process. started is called with its pid.
func (p *Planter) Run(path string, argv []string, attr *syscall.ProcAttr, o Options, started func(pid int)) (*Session, unix.WaitStatus, error) {
	type result struct {
		s      *Session
		status unix.WaitStatus
		err    error
	}
	over := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: nothing else may run in a thread that has traced
		var r result
		var pid int
		if pid, r.s, r.err = p.Start(path, argv, attr, o); r.err == nil {
			started(pid)
			r.s.Follow(pid)
			r.status, r.err = reap(pid)
		}
		over <- r
	}()
	r := <-over
	return r.s, r.status, r.err
}

func reap(pid int) (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, 0, nil)
		if err != unix.EINTR {
			return status, err
		}
	}
}
