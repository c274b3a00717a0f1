package probe

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// threadCPU returns the processor time that the calling thread has used
// (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID). Two readings can be compared only
// where the goroutine is locked to its thread between them.
func threadCPU() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// Metered runs f, which should not wait, with the goroutine locked to its thread, and tells the
// processor time that took. Where tell is nil it only runs f: the time is metered elsewhere. A
// goroutine that is locked while it waits for a pipe costs two switches of threads each time, so
// waiting is left out.
func Metered(tell func(time.Duration), f func() error) error {
	if tell == nil {
		return f()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadCPU()
	err := f()
	tell(threadCPU() - before)
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
