package plant

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// here is the reason why nothing can be planted on this machine; empty: it can.
const here = ""

const (
	options = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD

	// maxStops is the number of stops for system calls after which a launcher that starts nothing is
	// detached, because it does the work itself. With about 5 µs for a stop this is 10 ms.
	maxStops = 2000
)

// tracee is a process that is not detached yet: one that has not reached its entry, or a launcher.
type tracee struct {
	pid      int
	launcher bool
	stops    int      // for system calls, since it last started a process
	entry    uint64   // address of the breakpoint; 0: none
	was      [1]byte  // the byte under the breakpoint
	mem      *os.File // of a process that has not reached its entry
}

// breakpoint is the instruction int3.
var breakpoint = []byte{0xcc}

// follower is the loop of one tracer thread.
type follower struct {
	s       *Session
	leader  int
	tracees map[int]*tracee
	coming  map[int]*tracee // processes and threads that were started and have not stopped for the first time
}

// Follow traces the program that the calling thread has started with SysProcAttr.Ptrace, and all
// processes that it starts, until nothing is traced any more or the program has ended. It does not
// reap the program.
func (s *Session) Follow(leader int) {
	if !s.traced {
		return
	}
	f := &follower{s: s, leader: leader, tracees: map[int]*tracee{}, coming: map[int]*tracee{}}
	if f.first() {
		f.loop()
	}
	f.leave()
}

// first handles the stop after the program's own execve, before its first instruction.
func (f *follower) first() bool {
	for {
		c, err := awaitStop(unix.P_PID, f.leader)
		if err != nil || c.ended() {
			return false
		}
		t := &tracee{pid: f.leader}
		f.tracees[f.leader] = t
		switch {
		case c.pid == 0:
		case c.status != int(unix.SIGTRAP): // another signal arrived first
			f.resume(t, c.status)
		case unix.PtraceSetOptions(f.leader, options) != nil:
			f.release(t, 0)
			return false
		default:
			f.image(t)
			return true
		}
	}
}

func (f *follower) loop() {
	for len(f.tracees)+len(f.coming) > 0 {
		c, err := await(unix.P_ALL, 0, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT)
		if err != nil {
			return
		}
		if c.ended() {
			f.forget(c.pid)
			if c.pid == f.leader {
				return
			}
			_, _ = await(unix.P_PID, c.pid, unix.WEXITED|unix.WNOHANG) // its parent can reap it now
			continue
		}
		if c, err = await(unix.P_PID, c.pid, unix.WSTOPPED|unix.WNOHANG); err == nil && c.pid != 0 {
			f.stopped(c)
		}
	}
}

// stopped handles a process that has stopped.
func (f *follower) stopped(c change) {
	t := f.tracees[c.pid]
	signal, event := c.status&0xff, c.status>>8
	switch {
	case t == nil && c.pid == f.leader: // detached, and stopped by a signal: not our concern
	case t == nil:
		f.adopt(c.pid)
	case event == unix.PTRACE_EVENT_EXEC:
		f.image(t)
	case event != 0:
		f.forked(t, event)
	case signal == int(unix.SIGTRAP)|0x80:
		f.called(t)
	case signal == int(unix.SIGTRAP) && t.entry != 0 && f.atEntry(t):
		f.arrived(t)
	case stops(signal) && stoppedAll(c.pid):
		f.release(t, 0) // the whole process is stopped and stays so
	default:
		f.resume(t, signal)
	}
}

// stops reports whether a signal can stop a process.
func stops(signal int) bool {
	switch unix.Signal(signal) {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return true
	}
	return false
}

// stoppedAll reports whether all threads of a process are stopped by a signal and no SIGCONT is
// pending.
func stoppedAll(pid int) bool {
	var info unix.Siginfo
	return requestAt(unix.PTRACE_GETSIGINFO, pid, 0, unsafe.Pointer(&info)) == unix.EINVAL
}

// adopt starts to trace a process that a tracee has started, at its first stop, which may come
// before its parent's.
func (f *follower) adopt(pid int) {
	t := &tracee{pid: pid, launcher: true}
	st, err := readStatus(pid)
	from := f.coming[pid]
	if p := f.tracees[st.parent]; from == nil && p != nil {
		from = p
	}
	delete(f.coming, pid)
	switch {
	case err != nil || st.group != pid: // a thread
		f.release(t, 0)
	case from != nil && from.entry != 0: // it has a copy of its parent's breakpoint
		if mem, err := openMemory(pid); err == nil {
			t.mem, t.entry, t.was = mem, from.entry, from.was
		}
		f.release(t, 0)
	default:
		f.tracees[pid] = t
		f.resume(t, 0)
	}
}

// forked handles a tracee that has started a process or a thread. If it has not reached its entry
// yet it is not planted, because the new process may have a copy of the breakpoint, or the same
// memory.
func (f *follower) forked(t *tracee, event int) {
	child, err := unix.PtraceGetEventMsg(t.pid)
	if err == nil && f.tracees[int(child)] == nil {
		f.coming[int(child)] = &tracee{pid: int(child), entry: t.entry, was: t.was}
	}
	switch {
	case t.entry != 0:
		f.s.refused("it starts other processes before its entry")
		f.release(t, 0)
	case err == nil && event == unix.PTRACE_EVENT_CLONE && isThread(t.pid, int(child)):
		f.release(t, 0)
	default:
		t.stops = 0
		f.resume(t, 0)
	}
}

func isThread(pid, id int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, id))
	return err == nil
}

// called handles a launcher that begins or has ended a system call. Before the launcher executes a
// program that ptrace would deprive of its privileges, it is detached.
func (f *follower) called(t *tracee) {
	t.stops++
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(t.pid, &regs) != nil {
		return
	}
	why := ""
	switch {
	case t.stops > maxStops:
		f.release(t, 0)
		return
	case regs.Orig_rax == unix.SYS_EXECVE:
		why = refuse(pathIn(t.pid, regs.Rdi))
	case regs.Orig_rax == unix.SYS_EXECVEAT:
		why = "it is executed by execveat" // by a descriptor, which may be of any file
	}
	if why != "" {
		f.s.refused(why)
		f.release(t, 0)
		return
	}
	f.resume(t, 0)
}

// pathIn returns the path at an address of a process's memory, in a form that this process can use.
func pathIn(pid int, at uint64) string {
	b := make([]byte, unix.PathMax)
	path := unix.ByteSliceToString(b[:readRemote(pid, at, b)])
	if filepath.IsAbs(path) {
		return inRoot(pid, path)
	}
	return fmt.Sprintf("/proc/%d/cwd/%s", pid, path)
}

// resume lets a tracee run on. It does nothing to one that was killed.
func (f *follower) resume(t *tracee, signal int) {
	if t.launcher && t.entry == 0 {
		_ = unix.PtraceSyscall(t.pid, signal)
		return
	}
	_ = unix.PtraceCont(t.pid, signal)
}

// release detaches a tracee. A tracee that was killed cannot be detached: its end must be waited for
// here, because otherwise those who wait for it, such as the other threads of its process, would
// wait for ever.
func (f *follower) release(t *tracee, signal int) {
	f.clear(t)
	if request(unix.PTRACE_DETACH, t.pid, signal) != nil && t.pid != f.leader {
		delete(f.coming, t.pid)
		f.tracees[t.pid] = t
		return
	}
	f.forget(t.pid)
}

// clear removes the breakpoint.
func (f *follower) clear(t *tracee) {
	if t.entry != 0 && t.mem != nil {
		_ = writeAll(t.mem, t.was[:], t.entry) // fails if the process is gone
	}
	t.entry = 0
	if t.mem != nil {
		_ = t.mem.Close() // all was written
		t.mem = nil
	}
}

func (f *follower) forget(pid int) {
	if t := f.tracees[pid]; t != nil && t.mem != nil {
		_ = t.mem.Close() // the process is gone
	}
	delete(f.tracees, pid)
	delete(f.coming, pid)
}

// leave detaches what remains when the program has ended: launchers in its background, and processes
// started just now. A launcher is stopped by a signal that it never receives. A new process is
// stopped by the kernel before it runs: a second stop would be its own, and would remain.
func (f *follower) leave() {
	for pid := range f.tracees {
		if unix.Kill(pid, unix.SIGSTOP) != nil {
			delete(f.tracees, pid)
		}
	}
	for pid, t := range f.coming {
		if t.entry != 0 {
			t.mem, _ = openMemory(pid) // nil if it is gone
		}
		f.tracees[pid] = t
	}
	for len(f.tracees) > 0 {
		for pid, t := range f.tracees {
			f.leaveOne(pid, t)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// leaveOne checks whether a tracee has stopped or ended, and detaches it if so.
func (f *follower) leaveOne(pid int, t *tracee) {
	c, err := await(unix.P_PID, pid, unix.WEXITED|unix.WSTOPPED|unix.WNOHANG)
	switch {
	case err != nil || c.pid != 0 && c.ended():
		f.forget(pid)
	case c.pid == 0:
	case c.status == int(unix.SIGSTOP):
		f.release(t, 0)
	case c.status == int(unix.SIGTRAP) && t.entry != 0 && f.atEntry(t):
		f.clear(t)
		_ = unix.PtraceCont(pid, 0)
	case c.status>>8 != 0 || c.status == int(unix.SIGTRAP)|0x80:
		_ = unix.PtraceCont(pid, 0)
	default:
		_ = unix.PtraceCont(pid, c.status)
	}
}
