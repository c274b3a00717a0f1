package procattr

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// DefaultSignals makes the programs that this process starts begin with the default action for every signal and with none
// blocked, whatever this process itself has inherited: from nohup(1), say, or from a shell that started it in the background.
// A signal that this process ignores stays without effect on it. If signals are blocked, the process executes itself once more,
// as Go's runtime keeps the mask from the start of the process for its children.
func DefaultSignals() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for s, set := syscall.Signal(1), signalsOf(status, "SigIgn:"); s <= lastSignal; s++ {
		if set&(1<<(s-1)) != 0 {
			signal.Notify(unheard, s) // a signal that has a handler gets its default action when a program is executed
		}
	}
	if signalsOf(status, "SigBlk:") == 0 {
		return nil
	}
	runtime.LockOSThread() // execve(2) keeps the mask of the calling thread
	defer runtime.UnlockOSThread()
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return fmt.Errorf("cannot unblock signals: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return fmt.Errorf("cannot execute %s anew: %w", exe, syscall.Exec(exe, os.Args, os.Environ()))
}

// lastSignal is the largest signal of Linux.
const lastSignal = 64

// unheard receives the signals to which nothing is done.
var unheard = make(chan os.Signal, 1)

// signalsOf returns the set of signals in a line of the text of /proc/PID/status (proc(5)), bit 0 for signal 1.
func signalsOf(status []byte, name string) uint64 {
	set, _ := strconv.ParseUint(probe.Line(status, name), 16, 64) // the kernel always writes a number here
	return set
}
