package probe

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Events counts an event of the processor or the kernel in a program and in all processes that it starts
// (perf_event_open(2)). The program runs as it would without.
type Events struct{ fd int }

// CountInstructions counts the instructions in user mode of the program that the calling thread starts next. The thread must be
// locked to its goroutine, and start no other program before Close. It returns nil if nothing is counted here: many virtual
// machines have no such counter, and the kernel may forbid it (/proc/sys/kernel/perf_event_paranoid above 2).
func CountInstructions() *Events {
	return countEvent(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS)
}

// CountInstructionsOf counts those of a process that runs already, and of what it starts from now on.
func CountInstructionsOf(pid int) *Events {
	return countEventOf(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS, pid, 0)
}

// countEvent counts an event, as CountInstructions does. The thread's own counter never counts, as the thread executes no
// program: the processes inherit it, and theirs begin when they execute one.
func countEvent(kind uint32, event uint64) *Events {
	return countEventOf(kind, event, 0, unix.PerfBitDisabled|unix.PerfBitEnableOnExec)
}

// countEventOf counts an event in a process, 0: in the calling thread. The bits say when that begins.
func countEventOf(kind uint32, event uint64, pid int, begins uint64) *Events {
	attr := unix.PerfEventAttr{Type: kind, Config: event, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        begins | unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	fd, err := unix.PerfEventOpen(&attr, pid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil
	}
	return &Events{fd}
}

// Count returns the number of events so far. Where the processor had too few counters for all who count, the number is
// extrapolated from the time in which it counted.
func (e *Events) Count() float64 {
	var b [24]byte // the value, the time for which it was to be counted, and for which it was; nanoseconds
	if n, err := unix.Read(e.fd, b[:]); n != len(b) || err != nil {
		return 0
	}
	value := float64(binary.NativeEndian.Uint64(b[:]))
	enabled, running := binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	if running == 0 || running >= enabled {
		return value
	}
	return value * float64(enabled) / float64(running)
}

// Close ends the counting.
func (e *Events) Close() { _ = unix.Close(e.fd) }
