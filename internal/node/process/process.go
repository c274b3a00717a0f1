package process

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/hits/plant"
	"berth/internal/sys/probe"
)

// Process is a child of a lane and the leader of its process group.
type Process struct {
	pid     int
	grace   time.Duration
	started time.Time

	mu      sync.Mutex
	gone    bool        // waited for: the number may belong to another process now
	killing *time.Timer // sends SIGKILL when it fires

	signalled bool // it got the signal for the present end of its time; used by the watcher only

	activity *activity      // nil: the process may be idle
	seen     uint64         // value of activity at the last check; used by the watcher only
	since    time.Time      // time of the last activity; used by the watcher only
	floor    int64          // the worker's own peak at the start, below which the kernel's figure for the program is not its own
	group    int64          // resident sets of the group at its last exact measurement, bytes; used by the watcher only
	peak     atomic.Int64   // largest observed resident set of the group, bytes
	together atomic.Int64   // largest memory that its processes used together, each shared page counted once; 0: not measured
	counted  *plant.Session // nil: entries of its functions are not counted
	events   *probe.Events  // nil: its instructions are not counted
}

// spawn starts a command with these files in a process group of its own. It is called on a lane.
func spawn(c *Command, files []uintptr) (*Process, error) {
	path, argv := c.Change.Command(c.Path, c.Args)
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	starved.begin()
	var events *probe.Events
	if c.Instructions {
		events = probe.CountInstructions()
	}
	pid, s, err := fork(c.Planter, path, argv, attr)
	for try := 0; errors.Is(err, syscall.ETXTBSY) && try < 100; try++ {
		// Another thread forked while the file was open for writing. Its child closes the file when
		// it executes.
		time.Sleep(time.Millisecond)
		pid, s, err = fork(c.Planter, path, argv, attr)
	}
	if errors.Is(err, syscall.ENOEXEC) { // a script without a #! line: as in execvp(3) the shell runs it
		pid, s, err = fork(c.Planter, "/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), attr)
	}
	p := &Process{pid: pid, grace: c.Grace, started: time.Now(), floor: ownPeak(), counted: s, events: events}
	if err != nil {
		p.stopCounting()
		return nil, startFailure(path, c.Dir, err)
	}
	return p, nil
}

// fork starts a program. If there is a planter the entries of its functions are counted.
func fork(p *plant.Planter, path string, argv []string, attr *syscall.ProcAttr) (pid int, s *plant.Session, err error) {
	if p == nil {
		pid, err = syscall.ForkExec(path, argv, attr)
		return pid, nil, err
	}
	pid, s, err = p.Start(path, argv, attr, plant.Options{})
	if err != nil && s != nil {
		s.Close()
		s = nil
	}
	return pid, s, err
}

// stopCounting releases the counters of the program. It is called on the lane, whose next program has others.
func (p *Process) stopCounting() {
	if p.counted != nil {
		p.counted.Close()
	}
	if p.events != nil {
		p.events.Close()
	}
}

// Exit describes how a process ended.
type Exit struct {
	code   int // −1: ended by a signal
	signal syscall.Signal
	probe.Spent
	planted bool  // a signal ended it, or one that it started, while its functions were counted
	starved bool  // probably killed by the kernel because memory ran out
	maxRSS  int64 // bytes; never below the worker's own resident set at the start (probe.HighWater)
	err     error // the reason why it is unknown how the process ended
}

// faulted reports whether the program ended by a signal that a fault or the program itself raises. A
// shell reports such an end of its last command by its exit status.
func (e *Exit) faulted() bool {
	const shells = 128
	signal := e.signal
	if signal == 0 && e.code > shells {
		signal = syscall.Signal(e.code - shells)
	}
	switch signal {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGTRAP, unix.SIGABRT, unix.SIGSYS:
		return true
	}
	return false
}

// wait waits for the leader and then for the rest of its group (sweep). It is called on the
// process's lane.
func (p *Process) wait() Exit {
	e := p.reap()
	p.sweep()
	return e
}

// reap waits for the leader. If the leader was killed, reap kills the rest of its group.
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
		_ = unix.Kill(-p.pid, unix.SIGKILL) // the leader is still a zombie, so no other group can have the number
	}
	p.mu.Unlock()
	var queued time.Duration
	if time.Since(p.started) >= Glance { // for a short program the measurement is not worth its cost
		queued = probe.QueuedOf(p.pid) // the process is still a zombie
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
	}
	if e.signal == unix.SIGKILL || e.code == exitSignal+int(unix.SIGKILL) { // a shell ends with the latter after its last command was killed
		e.starved = !killed && starved.claim()
	}
	e.planted = p.counted != nil && !killed && e.faulted() && p.counted.Crashed()
	return e
}

// sweep waits for members of the group after the leader has ended, and kills them after the grace
// period. Most tasks leave none, which costs one system call.
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

// membersLive reports whether the group has members other than zombies. Zombies may stay for ever
// if the first process of the machine does not reap its children.
func membersLive(group int) bool {
	groups, err := probe.Groups()
	return err == nil && len(groups[group].PIDs) > 0
}

// kill ends the process group: SIGTERM, and SIGKILL after the grace period.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.killing != nil {
		return
	}
	_ = unix.Kill(-p.pid, unix.SIGTERM)
	_ = unix.Kill(-p.pid, unix.SIGCONT) // a stopped process does not handle SIGTERM
	p.killing = time.AfterFunc(p.grace, p.killNow)
}

// send sends a signal to the leader of the group alone, unless the group is being killed. Its other members may not
// handle the signal; a leader that waits for them can pass it on.
func (p *Process) send(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone && p.killing == nil {
		_ = unix.Kill(p.pid, sig)
	}
}

func (p *Process) killNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
	}
}
