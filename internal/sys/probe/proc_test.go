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

// TestRealProcesses: what the kernel says of a shell and of its child.
func TestRealProcesses(t *testing.T) {
	cmd := start(t, "sleep 1000 & echo ready; wait")
	list, err := Processes()
	if err != nil {
		t.Fatal(err)
	}
	var group []Process
	for _, p := range list {
		if p.Group == cmd.Process.Pid {
			group = append(group, p)
		}
	}
	if len(group) != 2 {
		t.Fatalf("its group has the processes %+v, want the shell and its child", group)
	}
	shell, child := group[0], group[1]
	if shell.PID != cmd.Process.Pid {
		shell, child = child, shell
	}
	if child.Parent != shell.PID || shell.Parent != os.Getpid() || shell.Session != child.Session || shell.Name != "sh" || shell.Stack == 0 || shell.Forked {
		t.Errorf("%+v, %+v", shell, child)
	}
	if now, hour := Ticks(), int64(time.Hour/tick); child.Start < shell.Start || child.Start > now || child.Start < now-hour {
		t.Errorf("the shell began at %d and its child at %d of %d ticks", shell.Start, child.Start, now)
	}
	if shell.RSS <= 0 {
		t.Errorf("RSS is %d", shell.RSS)
	}
	if hwm := HighWater(shell.PID); hwm <= 0 || hwm > 2*shell.RSS {
		t.Errorf("high water mark %d of the shell, RSS %d", hwm, shell.RSS)
	}
	if pss := Proportional([]int{shell.PID}); pss <= 0 || pss > 2*shell.RSS {
		t.Errorf("proportional share %d of the shell, RSS %d", pss, shell.RSS)
	}
}

func TestEnviron(t *testing.T) {
	cmd := start(t, "echo ready; sleep 1000", "BERTH_PROBE_TEST=one two")
	if env := Environ(cmd.Process.Pid); !slices.Contains(env, "BERTH_PROBE_TEST=one two") || slices.Contains(env, "BERTH_PROBE_TEST=one") {
		t.Errorf("the environment is %q", env)
	}
}

func TestKilobytes(t *testing.T) {
	for text, want := range map[string]int64{
		"Rss:  900 kB\nPss:                 123 kB\nPss_Dirty: 7 kB\n": 123 << 10,
		"Pss:\n": 0,
		"":       0,
	} {
		if got := number([]byte(text), "Pss:", 10) << 10; got != want {
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
