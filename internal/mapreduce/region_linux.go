package mapreduce

import (
	"time"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for large pages: a sort jumps about in the whole region, and with
// pages of 4 KiB most jumps would miss the translation cache as well.
func adviseHuge(mem []byte) {
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // a kernel without them works as well, only slower
}

// threadCPU returns the CPU time that the calling thread has used.
func threadCPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
