package plant

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Run runs a program to its end as a child of this process. started is called with its pid.
func (p *Planter) Run(path string, argv []string, attr *syscall.ProcAttr, o Options, started func(pid int)) (*Session, unix.WaitStatus, error) {
	var s *Session
	var status unix.WaitStatus
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // and never unlocked: nothing else may run in a thread that has traced
		var pid int
		if pid, s, err = p.Start(path, argv, attr, o); err == nil {
			started(pid)
			s.Follow(pid)
			status, err = reap(pid)
		}
	}()
	<-over
	return s, status, err
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
