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

// Process is a program: a child of a lane, the leader of its process group, and what it starts (Family).
type Process struct {
	pid     int
	env     []string
	grace   time.Duration
	hurried atomic.Bool   // it has none
	idling  time.Duration // Command.Idle
	started time.Time
	born    int64         // as started, in ticks (probe.Ticks): nothing that began before is of the program
	ended   atomic.Int64  // ticks when it was waited for: its number may be another process's from then on; 0: it runs
	over    bool          // nothing is left of it; it belongs to the registry
	unused  atomic.Bool   // what is left of it has done nothing for idleAfter
	helper  bool          // it belongs to this process, with what it starts, and is never ended with a program
	cpu     atomic.Int64  // nanoseconds that it and its orphans have used that have ended
	disk    atomic.Int64  // bytes that these have read and written
	stood   time.Duration // for how long it was stopped together with its worker; used by the watcher only

	mu     sync.Mutex
	killed chan struct{} // nil: it is not being killed; closed when nothing is left of it
	hangs  bool          // … or something is that does not die

	signalled bool // it got the signal for the present end of its time; used by the watcher only

	activity *activity      // nil: the process may be idle
	seen     uint64         // value of activity at the last check; used by the watcher only
	since    time.Time      // time of the last activity; used by the watcher only
	floor    int64          // the worker's own peak when it had started, below which the kernel's figure for the program is not its own
	group    int64          // resident sets of the family at its last exact measurement, bytes; used by the watcher only
	peak     atomic.Int64   // largest observed resident set of the family, bytes
	together atomic.Int64   // largest memory that its processes used together, each shared page counted once; 0: not measured
	counted  *plant.Session // nil: entries of its functions are not counted
	events   *probe.Events  // nil: its instructions are not counted
}

// spend counts what a process of the family used that has ended.
func (p *Process) spend(s probe.Spent) {
	p.cpu.Add(int64(s.CPU))
	p.disk.Add(s.Disk)
}

// spentCPU returns the processor time of processes of the family that have ended.
func (p *Process) spentCPU() time.Duration { return time.Duration(p.cpu.Load()) }

// spent returns what a process used that has ended.
func spent(use *unix.Rusage) probe.Spent {
	return probe.Spent{CPU: time.Duration(use.Utime.Nano() + use.Stime.Nano()), Disk: probe.BlockBytes(use)}
}

// spawn starts a command with these files in a process group of its own. It is called on a lane.
func spawn(c *Command, files []uintptr) (*Process, error) {
	server := c.Warm.server(c)
	p := &Process{env: c.Env, grace: c.Grace, idling: c.Idle, started: time.Now(), born: probe.Ticks()}
	starved.begin(p)
	relations.begin(p)
	path, argv := c.Change.Command(c.Path, c.Args)
	var pid int
	var begin func()
	var err error
	if server != nil {
		pid, begin = server.fork(c, files)
	}
	switch {
	case !c.Instructions:
	case pid > 0:
		p.events = probe.CountInstructionsOf(pid)
	default:
		p.events = probe.CountInstructions()
	}
	if pid == 0 {
		pid, err = p.execute(c, path, argv, files)
	}
	p.floor = ownPeak() // once it has left the worker's memory, which grows also while it starts
	relations.began(p, pid)
	if begin != nil {
		begin()
	}
	if err != nil {
		starved.end(p)
		p.stopCounting()
		return nil, startFailure(path, c.Dir, err)
	}
	return p, nil
}

// execute starts the program and returns its number.
func (p *Process) execute(c *Command, path string, argv []string, files []uintptr) (pid int, err error) {
	attr := &syscall.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	pid, p.counted, err = fork(c.Planter, path, argv, attr)
	for try := 0; errors.Is(err, syscall.ETXTBSY) && try < 100; try++ {
		// Another thread forked while the file was open for writing. Its child closes the file when
		// it executes.
		time.Sleep(time.Millisecond)
		pid, p.counted, err = fork(c.Planter, path, argv, attr)
	}
	if errors.Is(err, syscall.ENOEXEC) { // a script without a #! line: as in execvp(3) the shell runs it
		pid, p.counted, err = fork(c.Planter, "/bin/sh", append([]string{"/bin/sh", path}, argv[1:]...), attr)
	}
	if err != nil {
		pid = 0
	}
	return pid, err
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
	maxRSS  int64 // bytes; never below the worker's peak at the start (Process.floor)
	err     error // the reason why it is unknown how the process ended
	Remains
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

// wait waits for the program and then for what is left of it (rest). It is called on the
// program's lane.
func (p *Process) wait() Exit {
	e := p.reap()
	e.Remains = p.rest(nil)
	return e
}

// reap waits for the program itself.
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
	p.ended.Store(probe.Ticks())
	killed := p.killed != nil
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
	e.Spent = spent(&use)
	p.spend(e.Spent)
	e.Queued = queued
	if status.Signaled() {
		e.signal = status.Signal()
	}
	if e.signal == unix.SIGKILL || e.code == exitSignal+int(unix.SIGKILL) { // a shell ends with the latter after its last command was killed
		e.starved = !killed && starved.claim(p)
	}
	e.planted = p.counted != nil && !killed && e.faulted() && p.counted.Crashed()
	return e
}

// send sends a signal to the program itself, unless it is being killed, and not to what it has started. That may not
// handle the signal; a program that waits for it can pass it on.
func (p *Process) send(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended.Load() == 0 && p.killed == nil {
		_ = unix.Kill(p.pid, sig)
	}
}
