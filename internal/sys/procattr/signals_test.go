package procattr

import (
	"os"
	"os/exec"
	"testing"
)

// signalsOfAChild returns which signals a program that this process starts has blocked and ignored.
func signalsOfAChild() string {
	if err := DefaultSignals(); err != nil {
		return err.Error()
	}
	out, err := exec.Command("grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status").Output()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// TestDefaultSignals: programs begin with no signal blocked or ignored, however the process began that starts them.
func TestDefaultSignals(t *testing.T) {
	const none = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
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
