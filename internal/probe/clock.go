package probe

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// Spent is what a thread, or a process that has ended, has used up.
type Spent struct {
	CPU    time.Duration // user and system time
	Queued time.Duration // in which a process that has ended could have run and had no processor; see QueuedOf
	Disk   int64         // bytes; see BlockBytes
}

// QueuedOf returns the time in which the first thread of a process, which may be a zombie, could have run and had no
// processor (/proc/PID/schedstat, the second number); 0 where the kernel does not tell.
func QueuedOf(pid int) time.Duration {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/schedstat")
	if err != nil {
		return 0
	}
	var text [64]byte
	n, _ := f.Read(text[:])
	_ = f.Close()
	_, rest, _ := strings.Cut(string(text[:n]), " ")
	queued, _, _ := strings.Cut(rest, " ")
	ns, _ := strconv.ParseInt(queued, 10, 64)
	return time.Duration(max(ns, 0))
}

// thread returns what the calling thread has used up (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID;
// getrusage(2), RUSAGE_THREAD, whose processor time is not exact to the moment). Two readings can be
// compared only where the goroutine is locked to its thread between them.
func thread() Spent {
	var use unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &use) // cannot fail for the calling thread
	return Spent{CPU: clock(unix.CLOCK_THREAD_CPUTIME_ID), Disk: BlockBytes(&use)}
}

// Metered runs f, which should not wait, with the goroutine locked to its thread, and tells what
// that used up. Where tell is nil it only runs f: that is metered elsewhere. A
// goroutine that is locked while it waits for a pipe costs two switches of threads each time, so
// waiting is left out.
func Metered(tell func(Spent), f func() error) error {
	if tell == nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := thread()
	err := f()
	after := thread()
	tell(Spent{CPU: after.CPU - before.CPU, Disk: after.Disk - before.Disk})
	return err
}

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0 // not to be had: nothing is counted
	}
	return time.Duration(ts.Nano())
}

// Now returns the present instant.
func Now() job.Time { return job.Time(time.Now().UnixNano()) }
