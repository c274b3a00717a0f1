package probe

import (
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// ThreadCPU returns the processor time that the calling thread has used
// (clock_gettime(2), CLOCK_THREAD_CPUTIME_ID). Two readings can be compared only
// where the goroutine is locked to its thread between them.
func ThreadCPU() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// ProcessCPU returns the processor time that all threads of this process have used.
func ProcessCPU() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		return 0 // not to be had: nothing is counted
	}
	return time.Duration(ts.Nano())
}

// Now returns the present instant.
func Now() job.Time { return job.Time(time.Now().UnixNano()) }
