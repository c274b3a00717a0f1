package probe

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const tail = " 20 0 1 0 12345 9000000 250 18446744073709551615 1"
	tests := []struct {
		name, line string
		ok         bool
		group      int
		state      byte
		cpu        time.Duration
	}{
		{"plain", "7 (awk) R 1 42 42 0 -1 4194560 1 2 3 4 100 20 3 7" + tail, true, 42, 'R', 1300 * time.Millisecond},
		{"name with blanks and brackets", "7 (a) R 9 (b) Z 1 43 43 0 -1 0 1 2 3 4 0 0 0 0" + tail, true, 43, 'Z', 0},
		{"short", "7 (awk) R 1 42", false, 0, 0, 0},
		{"no name", "7 awk R 1", false, 0, 0, 0},
		{"empty", "", false, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ok := parseStat(7, []byte(tt.line))
			if ok != tt.ok {
				t.Fatalf("ok is %v, want %v", ok, tt.ok)
			}
			if !ok {
				return
			}
			if p.Group != tt.group || p.State != tt.state || p.CPU != tt.cpu {
				t.Errorf("got %+v", p)
			}
			if want := int64(250 * os.Getpagesize()); p.RSS != want {
				t.Errorf("RSS is %d, want %d", p.RSS, want)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (awk) R 1 42 42 0 -1 4194560 1 2 3 4 100 20 3 7 20 0 1 0 12345 9000000 250 18446744073709551615 1"))
	f.Add([]byte(") ) )"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, ok := parseStat(1, line); ok && p.PID != 1 {
			t.Errorf("pid %d", p.PID)
		}
	})
}

// start runs a shell script in a process group of its own and returns once it wrote a line.
func start(t *testing.T, script string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // killed on purpose
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestGroupsOfRealProcesses(t *testing.T) {
	cmd := start(t, "sleep 1000 & echo ready; wait")
	groups, err := Groups()
	if err != nil {
		t.Fatal(err)
	}
	u := groups[cmd.Process.Pid]
	if len(u.PIDs) != 2 {
		t.Errorf("group has %d processes, want the shell and its child", len(u.PIDs))
	}
	if u.RSS <= 0 {
		t.Errorf("RSS is %d", u.RSS)
	}
	if hwm := HighWater(cmd.Process.Pid); hwm <= 0 || hwm > 2*u.RSS {
		t.Errorf("high water mark %d of the shell, RSS of the group %d", hwm, u.RSS)
	}
	if pss := Proportional([]int{cmd.Process.Pid}); pss <= 0 || pss > 2*u.RSS {
		t.Errorf("proportional share %d of the shell, RSS of the group %d", pss, u.RSS)
	}
}

func TestWithEnv(t *testing.T) {
	cmd := start(t, "echo ready; sleep 1000", "BERTH_PROBE_TEST=one two")
	found, err := WithEnv("BERTH_PROBE_TEST=one two", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(found, cmd.Process.Pid) {
		t.Errorf("found %v, not %d", found, cmd.Process.Pid)
	}
	if found, _ := WithEnv("BERTH_PROBE_TEST=one", nil); len(found) != 0 {
		t.Errorf("a part of the value matched: %v", found)
	}
	if _, err := WithEnv("", nil); err == nil {
		t.Error("an empty variable would match every process")
	}
}

func TestKilobytes(t *testing.T) {
	for text, want := range map[string]int64{
		"Rss:  900 kB\nPss:                 123 kB\nPss_Dirty: 7 kB\n": 123 << 10,
		"Pss:\n": 0,
		"":       0,
	} {
		if got := kilobytes([]byte(text), "Pss:"); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestClocksGoForward(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := thread().CPU
	for n := 0; thread().CPU <= a; n++ {
		if n > 1<<26 {
			t.Fatal("clocks stand still")
		}
	}
}

// TestQueuedOf: the kernel tells how long a process waited for a processor, as it does of this one.
func TestQueuedOf(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this kernel does not count how long processes wait for processors:", err)
	}
	if got := QueuedOf(os.Getpid()); got <= 0 {
		t.Errorf("waited %v", got)
	}
	if got := QueuedOf(-1); got != 0 {
		t.Errorf("no process waited %v", got)
	}
}
