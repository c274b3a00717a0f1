package plant

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test's program run another one planted, as another user: see TestPrivileges.
func TestMain(m *testing.M) {
	if argv := os.Getenv("PLANT_RUN"); argv != "" {
		words := strings.Split(argv, "\n")
		s, status, err := (&Planter{}).Run(words[0], words, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}, exact, func(int) {})
		if err != nil {
			fmt.Println(err)
			os.Exit(99)
		}
		programs, _ := s.Planted()
		fmt.Printf("%d planted; %s\n", programs, s.Why())
		os.Exit(status.ExitStatus())
	}
	var err error
	if analysed, err = os.MkdirTemp("", "plant"); err != nil {
		fmt.Println(err)
		os.Exit(99)
	}
	status := m.Run()
	_ = os.RemoveAll(analysed)
	os.Exit(status)
}

// TestPrivileges checks that a set-uid program keeps its privileges, whether it is started directly
// or by a shell.
func TestPrivileges(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a set-uid program of another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "plant")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, from := range map[string]string{"odd": compile(t, "odd", "-O1"), "self": self} {
		if out, err := exec.Command("cp", from, filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	program := filepath.Join(dir, "odd")
	if err := os.Chmod(program, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for words, planted := range map[string]string{
		program + "\nuser":                                    "0 planted; it is set-uid or set-gid",
		"/bin/sh\n-c\n" + program + " user":                   "1 planted; it is set-uid or set-gid",
		"/bin/sh\n-c\n" + program + " user; exit 0":           "1 planted; it is set-uid or set-gid",
		"/bin/sh\n-c\ncd " + dir + "; exec ./odd user":        "1 planted; it is set-uid or set-gid",
		"/bin/sh\n-c\nenv PATH=" + dir + ":/usr/bin odd user": "2 planted; it is set-uid or set-gid",
	} {
		c := exec.Command(filepath.Join(dir, "self"))
		c.Env = []string{"PLANT_RUN=" + words, "PATH=/usr/bin:/bin"}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := c.CombinedOutput()
		if want := "65534 0\n" + planted + "\n"; err != nil || string(out) != want {
			t.Errorf("%q: %v\n%s, want\n%s", words, err, out, want)
		}
	}
}

// TestStopped checks that a launcher that is stopped by a signal stays stopped, and continues when
// it should.
func TestStopped(t *testing.T) {
	_, got := plantedWhile(t, fresh(t), exact, nil, func(pid int) {
		go func() {
			for !strings.Contains(stat(pid), ") T ") {
				time.Sleep(time.Millisecond)
			}
			_ = unix.Kill(pid, unix.SIGCONT)
		}()
	}, "sh", "-c", "kill -STOP $$; echo on; exit 5")
	if got.out != "on\n" || got.status.ExitStatus() != 5 {
		t.Errorf("%+v", got)
	}
}

func stat(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // gone: ""
	return string(b)
}

// TestBackground checks that the processes that a program leaves behind continue after its end, also
// launchers.
func TestBackground(t *testing.T) {
	dir := t.TempDir()
	script := "(sh -c 'read x; echo $x; read y <" + dir + "/go; echo $y >" + dir + "/done'; :) <" + dir + "/in & exit 4"
	for _, name := range []string{"in", "go", "done"} {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	over := make(chan result, 1)
	go func() {
		_, r := planted(t, fresh(t), exact, os.Environ(), "/bin/sh", "-c", script)
		over <- r
	}()
	say := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
			t.Error(err)
		}
	}
	say("in", "one\n")
	say("go", "two\n")
	if b, err := os.ReadFile(filepath.Join(dir, "done")); err != nil || string(b) != "two\n" {
		t.Errorf("%q, %v", b, err)
	}
	if r := <-over; r.out != "one\n" || r.status.ExitStatus() != 4 {
		t.Errorf("%+v", r)
	}
}
