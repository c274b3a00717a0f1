package process

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/probe"
	"berth/internal/trace/plant"
)

// Process is a child of a lane, the leader of its process group.
type Process struct {
	pid     int
	grace   time.Duration
	started time.Time

	mu      sync.Mutex
	gone    bool        // waited for: the number may name another process
	killing *time.Timer // sends SIGKILL

	activity *activity      // nil: no watch for inactivity
	seen     uint64         // activity at the last look; the watcher's
	since    time.Time      // when activity was last seen; the watcher's
	peak     atomic.Int64   // largest resident set of its group that was seen, bytes
	counted  *plant.Session // nil: its functions are not counted
}

// spawn starts a command in a process group of its own, with these files. It is called in a lane.
func spawn(c *Command, files []uintptr) (*Process, error) {
	path, argv := c.Change.Command(c.Path, c.Args)
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	starved.begin()
	pid, s, err := fork(c.Planter, path, argv, attr)
	for try := 0; errors.Is(err, syscall.ETXTBSY) && try < 100; try++ {
		// Another thread forked while the file was still open for writing; its child lets go when it executes.
		time.Sleep(time.Millisecond)
		pid, s, err = fork(c.Planter, path, argv, attr)
	}
	if errors.Is(err, syscall.ENOEXEC) { // a script without #! line: execvp(3) gives it to the shell
		pid, s, err = fork(c.Planter, "/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), attr)
	}
	if err != nil {
		return nil, startFailure(path, c.Dir, err)
	}
	return &Process{pid: pid, grace: c.Grace, started: time.Now(), counted: s}, nil
}

// fork starts a program, with its functions counted if there is a planter.
func fork(p *plant.Planter, path string, argv []string, attr *syscall.ProcAttr) (pid int, s *plant.Session, err error) {
	if p == nil {
		pid, err = syscall.ForkExec(path, argv, attr)
		return pid, nil, err
	}
	pid, s, err = p.Start(path, argv, attr, plant.Options{})
	if err != nil && s != nil {
		s.Close()
	}
	return pid, s, err
}

// Exit is how a process ended.
type Exit struct {
	code   int // −1: by a signal
	signal syscall.Signal
	probe.Spent
	starved bool  // it was killed, most likely by the kernel for lack of memory
	maxRSS  int64 // bytes; not less than the worker's own at the start (probe.HighWater)
	err     error // how it ended cannot be known
}

// wait waits for the leader, then for what it left in its group (sweep). It is
// called in the process's lane.
func (p *Process) wait() Exit {
	e := p.reap()
	p.sweep()
	return e
}

// reap waits for the leader. With one that was killed all its group is.
func (p *Process) reap() Exit {
	if p.counted != nil {
		p.counted.Follow(p.pid)
	}
	var info unix.Siginfo
	for {
		if err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			break
		}
	}
	p.mu.Lock()
	p.gone = true
	killed := p.killing != nil
	if killed {
		p.killing.Stop()
		_ = unix.Kill(-p.pid, unix.SIGKILL) // the leader is a zombie yet, so the number is its own
	}
	p.mu.Unlock()
	var queued time.Duration
	if time.Since(p.started) >= Glance { // for a short program it costs more than it tells
		queued = probe.QueuedOf(p.pid) // a zombie yet
	}
	var status unix.WaitStatus
	var use unix.Rusage
	var err error
	for {
		if _, err = unix.Wait4(p.pid, &status, 0, &use); err != unix.EINTR {
			break
		}
	}
	e := Exit{err: err, code: status.ExitStatus(), maxRSS: use.Maxrss << 10}
	e.Spent = probe.Spent{CPU: time.Duration(use.Utime.Nano() + use.Stime.Nano()), Queued: queued, Disk: probe.BlockBytes(&use)}
	if status.Signaled() {
		e.signal = status.Signal()
		e.starved = e.signal == unix.SIGKILL && !killed && starved.claim()
	}
	return e
}

// sweep waits for the members of a group whose leader has ended, as long as the
// grace is, and kills them then. Most tasks leave none and cost one system call.
func (p *Process) sweep() {
	if unix.Kill(-p.pid, 0) != nil {
		return
	}
	until := time.Now().Add(p.grace)
	for look := time.Millisecond; membersLive(p.pid); look = min(2*look, 100*time.Millisecond) {
		if time.Now().After(until) {
			_ = unix.Kill(-p.pid, unix.SIGKILL)
			return
		}
		time.Sleep(look)
	}
}

// membersLive reports whether a group has members other than zombies, which
// nobody may ever reap where the machine's first process is no proper init.
func membersLive(group int) bool {
	groups, err := probe.Groups()
	return err == nil && len(groups[group].PIDs) > 0
}

// kill ends the process group: SIGTERM, and SIGKILL after the grace.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.killing != nil {
		return
	}
	_ = unix.Kill(-p.pid, unix.SIGTERM)
	_ = unix.Kill(-p.pid, unix.SIGCONT) // a stopped process takes no SIGTERM
	p.killing = time.AfterFunc(p.grace, p.killNow)
}

func (p *Process) killNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
}
