package procattr

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// reserved are signals 32 to 34, which threads of the C library use, and on which Go acts for no program.
const reserved = uint64(0x3_8000_0000)

// signalsOfAChild returns which signals a program that this process starts has blocked and ignored.
func signalsOfAChild() string {
	if err := DefaultSignals(); err != nil {
		return err.Error()
	}
	status, err := exec.Command("cat", "/proc/self/status").Output()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x %x", signalsOf(status, "SigBlk:")&^reserved, signalsOf(status, "SigIgn:")&^reserved)
}

// TestDefaultSignals: programs begin with no signal blocked or ignored, however the process began that starts them.
func TestDefaultSignals(t *testing.T) {
	const none = "0 0"
	for _, began := range [][]string{
		{}, {"--ignore-signal=HUP,INT,QUIT,TSTP,PIPE,USR1"}, {"--block-signal=HUP,TERM,USR1"}, {"--block-signal", "--ignore-signal=HUP,INT,TTOU"},
	} {
		cmd := exec.Command("/usr/bin/env", append(began, os.Args[0])...)
		cmd.Env = append(os.Environ(), "PROCATTR_TEST_SIGNALS=1")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != none {
			t.Errorf("%v: %q, %v", began, out, err)
		}
	}
}
