package plant

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request calls ptrace(2) with a number as its last argument.
func request(what, pid, number int) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(what), uintptr(pid), 0, uintptr(number), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// requestAt calls ptrace(2) with a size and an address in this process.
func requestAt(what, pid, size int, place unsafe.Pointer) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(what), uintptr(pid), uintptr(size), uintptr(place), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// remote is a stopped process with a single thread.
type remote struct {
	pid     int
	mem     *os.File
	regs    unix.PtraceRegs
	mask    uint64
	stopped bool // a SIGSTOP arrived meanwhile and must be delivered
}

// hold blocks all signals except SIGTRAP in a stopped process until release, so that system calls
// can be made in it.
func hold(pid int, mem *os.File) (*remote, error) {
	r := &remote{pid: pid, mem: mem}
	if err := unix.PtraceGetRegs(pid, &r.regs); err != nil {
		return nil, err
	}
	if err := requestAt(unix.PTRACE_GETSIGMASK, pid, 8, unsafe.Pointer(&r.mask)); err != nil {
		return nil, err
	}
	all := ^(uint64(1) << (unix.SIGTRAP - 1))
	return r, requestAt(unix.PTRACE_SETSIGMASK, pid, 8, unsafe.Pointer(&all))
}

// release restores the process's registers and signals.
func (r *remote) release() error {
	return errors.Join(unix.PtraceSetRegs(r.pid, &r.regs),
		requestAt(unix.PTRACE_SETSIGMASK, r.pid, 8, unsafe.Pointer(&r.mask)))
}

// borrow writes bytes to the process's memory and returns a function that restores the previous
// ones.
func (r *remote) borrow(at uint64, b []byte) (back func() error, err error) {
	was := make([]byte, len(b))
	if _, err := r.mem.ReadAt(was, int64(at)); err != nil {
		return nil, err
	}
	back = func() error { return writeAll(r.mem, was, at) }
	if err := writeAll(r.mem, b, at); err != nil {
		return nil, errors.Join(err, back())
	}
	return back, nil
}

// call makes one system call. The instruction for it is at the process's instruction pointer.
func (r *remote) call(number uintptr, args ...uint64) (uint64, error) {
	regs := r.regs
	regs.Rax, regs.Orig_rax = uint64(number), ^uint64(0)
	for i, to := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9} {
		*to = 0
		if i < len(args) {
			*to = args[i]
		}
	}
	if err := unix.PtraceSetRegs(r.pid, &regs); err != nil {
		return 0, err
	}
	if err := r.step(); err != nil {
		return 0, err
	}
	if err := unix.PtraceGetRegs(r.pid, &regs); err != nil {
		return 0, err
	}
	if regs.Rip != r.regs.Rip+uint64(len(syscallCode)) {
		return 0, fmt.Errorf("system call %d was not made", number)
	}
	if e := -int64(regs.Rax); e > 0 && e < pageSize {
		return 0, fmt.Errorf("system call %d in the program: %w", number, unix.Errno(e))
	}
	return regs.Rax, nil
}

// syscallCode is the system call instruction.
var syscallCode = []byte{0x0f, 0x05}

// errGone means that the process has ended.
var errGone = errors.New("the program has ended")

// step lets the process run one instruction.
func (r *remote) step() error {
	for {
		if err := unix.PtraceSingleStep(r.pid); err != nil {
			return err
		}
		e, err := awaitStop(unix.P_PID, r.pid)
		switch {
		case err != nil:
			return err
		case e.ended():
			return errGone // the loop handles its end
		case e.pid == 0:
			continue // it was killed, and its end comes next
		case e.status == int(unix.SIGTRAP):
			return nil
		case e.status == int(unix.SIGSTOP):
			r.stopped = true
		default:
			return fmt.Errorf("the program stopped by %#x", e.status)
		}
	}
}
