package probe

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEvents checks that what a program and its children use is counted, also when they have ended, and nothing of this
// process. It counts the nanoseconds of processor time, which the kernel counts on every machine.
func TestEvents(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := countEvent(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK)
	if e == nil {
		t.Skip("the kernel counts no events here (perf_event_open)")
	}
	defer e.Close()
	for i := range 1 << 20 { // work of this process, which does not count
		runtime.KeepAlive(i)
	}
	if n := e.Count(); n != 0 {
		t.Errorf("%v events before the program starts", n)
	}
	const work = `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done`
	shell := func(script string) (used float64) {
		c := exec.Command("sh", "-c", script)
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		return float64(c.ProcessState.UserTime() + c.ProcessState.SystemTime())
	}
	used := shell("(" + work + "); (" + work + ") & wait; :")
	if n := e.Count(); n < used/2 || n > used*2 {
		t.Errorf("%v events, where the program and its children used %v ns", n, used)
	}
}

// TestNoEvents checks that an event that does not exist is told.
func TestNoEvents(t *testing.T) {
	if e := countEvent(unix.PERF_TYPE_HARDWARE, 1<<40); e != nil {
		t.Error("an unknown event is counted")
	}
}
