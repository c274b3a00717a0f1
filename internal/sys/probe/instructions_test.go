package probe

import (
	"math"
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
	used := shell(t, "("+loop+"); ("+loop+") & wait; :")
	if n := e.Count(); n < used/2 || n > used*2 {
		t.Errorf("%v events, where the program and its children used %v ns", n, used)
	}
}

// TestEventsOfProcess checks that what a process uses that ran before, and what it starts then, is counted.
func TestEventsOfProcess(t *testing.T) {
	c := exec.Command("sh", "-c", "read go; ("+loop+"); "+loop)
	begin, err := c.StdinPipe()
	if err != nil || c.Start() != nil {
		t.Fatal(err)
	}
	e := countEventOf(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK, c.Process.Pid, 0)
	_ = begin.Close()
	if err := c.Wait(); e == nil || err != nil {
		t.Skipf("the kernel counts no events here (perf_event_open): %v", err)
	}
	defer e.Close()
	used := float64(c.ProcessState.UserTime() + c.ProcessState.SystemTime())
	if n := e.Count(); n < used/2 || n > used*2 {
		t.Errorf("%v events, where the process and its children used %v ns", n, used)
	}
}

// loop is work of a shell that takes some hundredths of a second.
const loop = `i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done`

// shell runs a script and returns the processor time that it used, in nanoseconds.
func shell(t *testing.T, script string) float64 {
	t.Helper()
	c := exec.Command("sh", "-c", script)
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return float64(c.ProcessState.UserTime() + c.ProcessState.SystemTime())
}

// TestInstructions checks that the same work takes the same number of instructions, and twice the work twice the number.
func TestInstructions(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	count := func(script string) float64 {
		e := CountInstructions()
		if e == nil {
			t.Skip("this machine counts no instructions, as many virtual ones, or the kernel forbids it (perf_event_paranoid)")
		}
		defer e.Close()
		shell(t, script)
		return e.Count()
	}
	once, again, twice := count(loop), count(loop), count(loop+"; "+loop)
	if once < 1e6 || math.Abs(again/once-1) > 0.02 || math.Abs(twice/once-2) > 0.1 {
		t.Errorf("%v instructions, again %v, twice the work %v", once, again, twice)
	}
	t.Logf("%.0f instructions, again %.0f, twice the work %.0f", once, again, twice)
}

// TestNoEvents checks that an event that does not exist is not counted.
func TestNoEvents(t *testing.T) {
	if e := countEvent(1<<30, 0); e != nil {
		t.Error("an unknown event is counted")
	}
}
