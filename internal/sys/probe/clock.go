package probe

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// Spent is what a thread, or a process that has ended, has used.
type Spent struct {
	CPU    time.Duration // user and system time
	Queued time.Duration // time in which the process was ready to run but had no processor; see QueuedOf
	Disk   int64         // bytes; see BlockBytes
}

// QueuedOf returns the time in which the first thread of a process was ready to run but had no
// processor (/proc/PID/schedstat, the second number). The process may be a zombie. The result is 0
// if the kernel does not count this time.
func QueuedOf(pid int) time.Duration {
	var queued time.Duration
	text, _ := file(pid, "schedstat")
	_, _ = fmt.Sscan(string(text), new(int64), &queued) // stays 0
	return max(queued, 0)
}

// thread returns what the calling thread has used (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID, which
// is more precise than getrusage(2); RUSAGE_THREAD for the rest). Two readings can be compared only
// if the goroutine is locked to its thread between them.
func thread() Spent {
	var use unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &use) // cannot fail for the calling thread
	return Spent{CPU: clock(unix.CLOCK_THREAD_CPUTIME_ID), Disk: BlockBytes(&use)}
}

// Metered runs f with the goroutine locked to its thread, and passes what f used to report. If
// report is nil it only runs f, because f is measured elsewhere. f should not wait: each wait of a
// locked goroutine costs two switches of threads.
func Metered(report func(Spent), f func() error) error {
	if report == nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	err := f()
	after := thread()
	report(Spent{CPU: after.CPU - before.CPU, Disk: after.Disk - before.Disk})
	return err
}

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0 // the clock is not available: nothing is counted
	}
	return time.Duration(ts.Nano())
}

var begun = sync.OnceValue(time.Now)

// Now returns the time by a clock that nobody sets: the wall clock's when this process first asked, and then as much
// later as the monotonic clock says.
func Now() job.Time {
	from := begun()
	return job.TimeOf(from).Add(time.Since(from))
}
