package plant

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// image handles a process that has just executed a program: it lets it run to the program's entry,
// where the dynamic linker has mapped all needed libraries, and plants it there.
func (f *follower) image(t *tracee) {
	f.clear(t) // the previous memory is gone; only the descriptor remains
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", t.pid))
	t.launcher, t.stops = err == nil && launcher(filepath.Base(exe)), 0
	entry, err := examine(t.pid)
	if f.s.overspent() {
		err = errOften
	}
	if err == nil {
		t.mem, err = openMemory(t.pid)
	}
	if err == nil { // a static program is at its entry, but may still be within execve(2)
		_, err = t.mem.ReadAt(t.was[:], int64(entry))
	}
	if err == nil {
		err = writeAll(t.mem, breakpoint, entry)
	}
	if err != nil {
		f.s.refused(err.Error())
		f.release(t, 0) // also a launcher: what it starts has the same limits, or system calls with other numbers
		return
	}
	t.entry = entry
	f.resume(t, 0)
}

// errOften is the reason why programs that a launcher starts are no longer planted.
var errOften = errors.New("programs follow each other so fast that planting them would take more than 1 % of the time")

// atEntry reports whether a process has hit its breakpoint, and sets it back to the entry.
func (f *follower) atEntry(t *tracee) bool {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(t.pid, &regs) != nil || regs.Rip != t.entry+1 {
		return false
	}
	regs.Rip = t.entry
	return unix.PtraceSetRegs(t.pid, &regs) == nil
}

// arrived handles a process that has reached its entry.
func (f *follower) arrived(t *tracee) {
	if err := writeAll(t.mem, t.was[:], t.entry); err != nil {
		f.release(t, 0)
		return
	}
	t.entry = 0
	f.plant(t)
}

// plant plants a process at its entry, and resumes it if it is a launcher, or else detaches it.
func (f *follower) plant(t *tracee) {
	began, spent := time.Now(), threadTime()
	signal := 0
	if st, err := readStatus(t.pid); err != nil || st.threads != 1 {
		f.s.refused("it has threads before its entry")
	} else if st.shadowed {
		f.s.refused("it has a shadow stack")
	} else if stopped, err := f.s.plant(t.pid, t.mem); err != nil {
		f.s.refused(err.Error())
	} else if stopped {
		signal = int(unix.SIGSTOP)
	}
	f.clear(t)
	if t.launcher {
		f.resume(t, signal)
	} else {
		f.release(t, signal)
	}
	f.s.took(time.Since(began), threadTime()-spent)
}

// threadTime returns the processor time of the calling thread, which is the tracer's own.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0 // no Linux of today
	}
	return time.Duration(t.Nano())
}

// examine returns the entry of a program that was just executed, or why it is not planted.
func examine(pid int) (uint64, error) {
	head := make([]byte, 20)
	f, err := os.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close() // nothing was written
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Machine(binary.LittleEndian.Uint16(head[18:])) != elf.EM_X86_64 {
		return 0, errors.New("the program is not for amd64")
	}
	st, err := readStatus(pid)
	if err != nil {
		return 0, err
	}
	own, err := readStatus(os.Getpid())
	trap := uint64(1) << (unix.SIGTRAP - 1)
	var space unix.Rlimit
	switch {
	case err != nil:
		return 0, err
	case (st.blocked|st.ignored)&trap != 0:
		return 0, errors.New("the program blocks or ignores SIGTRAP")
	case st.filters != own.filters:
		return 0, errors.New("the program's system calls are filtered (seccomp)")
	case unix.Prlimit(pid, unix.RLIMIT_AS, nil, &space) != nil || space.Cur != unix.RLIM_INFINITY:
		return 0, errors.New("its address space is limited (ulimit -v)")
	}
	aux, err := auxiliary(pid)
	switch {
	case err != nil:
		return 0, err
	case aux[atSecure] != 0:
		return 0, errors.New("it runs with privileges of its file")
	case aux[atEntry] == 0:
		return 0, errors.New("its entry is not known")
	}
	return aux[atEntry], nil
}

// The keys of the auxiliary vector (getauxval(3)).
const (
	atEntry  = 9
	atSecure = 23
)

func auxiliary(pid int) (map[uint64]uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", pid))
	if err != nil {
		return nil, err
	}
	aux := map[uint64]uint64{}
	for ; len(b) >= 16; b = b[16:] {
		aux[binary.LittleEndian.Uint64(b)] = binary.LittleEndian.Uint64(b[8:])
	}
	return aux, nil
}

// status is the contents of /proc/PID/status.
type status struct {
	parent, group, threads int
	blocked, ignored       uint64 // masks of signals
	filters                string // the mode of its system call filter
	shadowed               bool   // it has a shadow stack, on which the return address of a displaced call is missing
}

func readStatus(pid int) (st status, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return st, err
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		values[key] = strings.TrimSpace(value)
	}
	number := func(key string, base int) uint64 {
		n, wrong := strconv.ParseUint(values[key], base, 64)
		err = errors.Join(err, wrong)
		return n
	}
	st = status{parent: int(number("PPid", 10)), group: int(number("Tgid", 10)), threads: int(number("Threads", 10)),
		blocked: number("SigBlk", 16), ignored: number("SigIgn", 16), filters: values["Seccomp"] + " " + values["Seccomp_filters"],
		shadowed: strings.Contains(values["x86_Thread_features"], "shstk")}
	if err != nil {
		err = fmt.Errorf("cannot read the status of process %d: %w", pid, err)
	}
	return st, err
}

func openMemory(pid int) (*os.File, error) {
	return os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
}
