package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of CPU times in /proc/PID/stat. The kernel reports them in USER_HZ, which is 100
// on every architecture that Go supports (proc(5), time(7)).
const tick = time.Second / 100

// Usage is what processes use together.
type Usage struct {
	RSS int64         // resident bytes; shared pages count once for each process
	CPU time.Duration // user and system time, including children that were waited for
}

// Process is an entry of the process table.
type Process struct {
	PID, Parent, Group, Session int
	Name                        string // of its program's file, up to 15 bytes, unless it has set another one
	State                       byte   // R, S, D, Z, …
	Forked                      bool   // it has not executed a program since it was forked
	Start                       int64  // start time in clock ticks since boot; with PID it identifies a process uniquely
	Stack                       int64  // address of its stack: that of its parent until it executes a program; 0: unknown
	Usage
}

// Ended reports whether the process has ended and waits to be reaped.
func (p Process) Ended() bool { return p.State == 'Z' || p.State == 'X' }

// Ticks returns the time in the unit, and by the clock, of Process.Start. It is never before the start of a process that runs already.
func Ticks() int64 {
	return int64(clock(unix.CLOCK_BOOTTIME) / tick)
}

// Find returns the process with this PID, or false if it does not exist or has ended.
func Find(pid int) (Process, bool) {
	p, ok := Entry(pid)
	return p, ok && !p.Ended()
}

// Entry returns the entry of the process table with this PID, or false if there is none.
func Entry(pid int) (Process, bool) { return readStat(pid, make([]byte, 1024)) }

// Processes returns the process table of this machine (proc(5)), without processes that end
// meanwhile.
func Processes() ([]Process, error) {
	pids, err := PIDs()
	if err != nil {
		return nil, err
	}
	list := make([]Process, 0, len(pids))
	buf := make([]byte, 1024)
	for _, pid := range pids {
		if p, ok := readStat(pid, buf); ok {
			list = append(list, p)
		}
	}
	return list, nil
}

// AwaitExit waits until the process of a descriptor from pidfd_open(2) has ended, and reports
// whether it has. It waits at most for patience, or without limit if patience is negative.
func AwaitExit(pidfd int, patience time.Duration) (ended bool, err error) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		if err != unix.EINTR {
			return n > 0, err
		}
	}
}

// Kill kills the process of a descriptor from pidfd_open(2), and waits for its end as AwaitExit does.
func Kill(pidfd int, patience time.Duration) (ended bool, err error) {
	if err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); err != nil && err != unix.ESRCH {
		return false, err
	}
	return AwaitExit(pidfd, patience)
}

// LastPID returns the number that the machine gave to a process or thread last; 0: the kernel does not tell it.
func LastPID() int {
	f := lastPID()
	if f == nil {
		return 0
	}
	var b [16]byte
	n, _ := f.ReadAt(b[:], 0) // at the end of the file there is an error as well
	last, _ := strconv.Atoi(string(bytes.TrimSpace(b[:n])))
	return last
}

var lastPID = sync.OnceValue(func() *os.File {
	f, _ := os.Open("/proc/sys/kernel/ns_last_pid")
	return f
})

// PIDs returns the numbers of all processes of this machine.
func PIDs() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	list := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			list = append(list, pid)
		}
	}
	return list, nil
}

func readStat(pid int, buf []byte) (Process, bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	n, err := f.Read(buf)
	_ = f.Close()
	if err != nil {
		return Process{}, false
	}
	return parseStat(pid, buf[:n])
}

// parseStat parses /proc/PID/stat. The second field is the command's name in brackets. The name may
// contain spaces and brackets, so fields are counted from the last closing bracket.
func parseStat(pid int, line []byte) (Process, bool) {
	i := bytes.LastIndexByte(line, ')')
	if i < 0 {
		return Process{}, false
	}
	f := bytes.Fields(line[i+1:]) // f[0] is field 3
	if len(f) < 22 {
		return Process{}, false
	}
	field := func(n int) int64 {
		v, _ := strconv.ParseInt(string(f[n-3]), 10, 64) // the kernel always writes numbers here
		return v
	}
	p := Process{PID: pid, Parent: int(field(4)), Group: int(field(5)), Session: int(field(6)), State: f[0][0], Forked: field(9)&forkNoExec != 0, Start: field(22)}
	if at := bytes.IndexByte(line[:i], '('); at >= 0 {
		p.Name = string(line[at+1 : i])
	}
	if len(f) > 28-3 {
		p.Stack = field(28)
	}
	p.CPU = time.Duration(field(14)+field(15)+field(16)+field(17)) * tick
	p.RSS = field(24) * int64(os.Getpagesize())
	return p, true
}

// forkNoExec is the flag of a process that has not executed a program since it was forked (include/linux/sched.h, PF_FORKNOEXEC).
const forkNoExec = 0x40

// Unreclaimable returns the resident bytes of processes without pages of files, which the kernel can take back at once (proc(5), status: RssAnon and
// RssShmem). A page counts once for each process that has it.
func Unreclaimable(pids []int) int64 {
	return sumOf(pids, "status", "VmRSS:", "RssAnon:", "RssShmem:")
}

// Proportional is Unreclaimable with each shared page divided by the number of processes that share it (proc(5), smaps_rollup). It takes long for
// large processes, but is correct for tasks that fork.
func Proportional(pids []int) int64 {
	return sumOf(pids, "smaps_rollup", "Pss:", "Pss_Anon:", "Pss_Shmem:")
}

// sumOf returns the sum of two lines of a file of each process, or of the line whole where an older kernel does not divide it.
func sumOf(pids []int, in, whole string, parts ...string) (sum int64) {
	for _, pid := range pids {
		b, err := file(pid, in)
		if err != nil {
			continue // the process ended meanwhile
		}
		lines := parts
		if !bytes.Contains(b, []byte("\n"+parts[0])) {
			lines = []string{whole}
		}
		for _, name := range lines {
			sum += number(b, name, 10) << 10 // in kB
		}
	}
	return sum
}

// file reads a file of a process, in the folder that the kernel has for it.
func file(pid int, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
}

// HighWater returns the peak resident set of a running process in bytes (proc(5), status: VmHWM),
// or 0 if it has ended. getrusage(2) of an ended child cannot be used: ru_maxrss starts with the
// value of the parent, in whose memory the child ran before execve(2).
func HighWater(pid int) int64 {
	b, _ := file(pid, "status")
	return number(b, "VmHWM:", 10) << 10
}

// Environ returns the variables with which a process was started. It returns none for processes of
// other users, whose environment cannot be read.
func Environ(pid int) []string {
	env, err := file(pid, "environ")
	if err != nil {
		return nil
	}
	return strings.Split(string(env), "\x00")
}
