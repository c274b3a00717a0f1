package procattr

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// TestMain prints what this process has if it was started for that.
func TestMain(m *testing.M) {
	if os.Getenv("PROCATTR_TEST_OWN") != "" {
		fmt.Println(Own().Limits["nofile"])
		os.Exit(0)
	}
	if os.Getenv("PROCATTR_TEST_SIGNALS") != "" {
		fmt.Print(signalsOfAChild())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestOwnOpenFiles: the limit of open files is the one with which the process began, whether Go's runtime has raised it or could not.
func TestOwnOpenFiles(t *testing.T) {
	for _, limits := range []string{"ulimit -S -n 99", "ulimit -n 99", "ulimit -n 99; ulimit -S -n 98"} {
		cmd := exec.Command("/bin/sh", "-c", limits+`; ulimit -S -n; exec "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), "PROCATTR_TEST_OWN=1")
		out, err := cmd.Output()
		if lines := strings.Fields(string(out)); err != nil || len(lines) != 2 || lines[0] != lines[1] {
			t.Errorf("%s: %q, %v", limits, out, err)
		}
	}
}

// TestOwn compares what is read with what a shell says that this process starts.
func TestOwn(t *testing.T) {
	out, err := exec.Command("/bin/sh", "-c", "umask; nice; ulimit -S -n; ulimit -S -c").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := Own()
	want := strings.Fields(string(out))
	if own.Umask == nil || own.Nice == nil {
		t.Fatalf("%+v", own)
	}
	c := Change{}
	c.limits(nil, nil)
	if got := amount(own.Limits["nofile"]); got != want[2] {
		t.Errorf("open files: %s, want %s", got, want[2])
	}
	if got := amount(own.Limits["core"]); (got == "0") != (want[3] == "0") {
		t.Errorf("core: %s, want %s", got, want[3])
	}
}

// TestChange starts a shell that says what it got.
func TestChange(t *testing.T) {
	own := Own()
	if c := From(own, &own); c != nil {
		t.Errorf("nothing differs, but %+v", c)
	}
	if c := From(own, nil); c != nil {
		t.Errorf("nothing is wanted, but %+v", c)
	}
	nice, mask := *own.Nice+3, *own.Umask^0o070
	c := From(own, &job.Inherit{Umask: &mask, Nice: &nice, Limits: map[string]uint64{"nofile": 77, "core": 0}})
	if c == nil || c.Umask != mask || len(c.Refused) > 0 {
		t.Fatalf("%+v", c)
	}
	path, args := c.Command("/bin/sh", []string{"sh", "-c", "ulimit -S -n; ulimit -S -c; nice; echo $1", "sh", "an argument"})
	out, err := (&exec.Cmd{Path: path, Args: args}).Output()
	if got := strings.Fields(string(out)); err != nil || strings.Join(got[:2], " ") != "77 0" || !strings.HasSuffix(string(out), "\nan argument\n") {
		t.Errorf("the shell says %q, %v", out, err)
	}
}

// TestRefused: a limit above the hard one is the hard one, and told; so is a nice value that this user may not have.
func TestRefused(t *testing.T) {
	var hard unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &hard); err != nil {
		t.Fatal(err)
	}
	low, lower := 0, -1
	own := job.Inherit{Nice: &low, Limits: map[string]uint64{"nofile": 5}}
	c := From(own, &job.Inherit{Nice: &lower, Limits: map[string]uint64{"nofile": hard.Max + 1}})
	out, err := exec.Command("nice", "-n", "-1", "nice").Output()
	refused := 2
	if err == nil && strings.TrimSpace(string(out)) == "-1" { // root may lower it
		refused = 1
	}
	if c == nil || len(c.Refused) != refused || !strings.Contains(strings.Join(c.Prefix, " "), "--nofile="+amount(hard.Max)+":") {
		t.Errorf("%+v", c)
	}
}

// TestScheduling: a program begins with what a job wants of scheduling, whatever this process has, and with what this process
// has if the job wants nothing else.
func TestScheduling(t *testing.T) {
	own, oom := Own(), 300
	for say, want := range map[string]job.Inherit{
		"chrt -p $$ | grep -c SCHED_BATCH":   {Policy: "--batch 0"},
		"chrt -p $$ | grep -c SCHED_IDLE":    {Policy: "--idle 0"},
		"ionice | grep -c idle":              {IO: "-c 3"},
		"ionice | grep -c best-effort":       {IO: "-c 2 -n 7"},
		"grep -c 300 /proc/$$/oom_score_adj": {OOM: &oom},
	} {
		c := From(own, &want)
		if c == nil || len(c.Refused) > 0 {
			t.Errorf("%s: %+v", say, c)
			continue
		}
		path, args := c.Command("/bin/sh", []string{"sh", "-c", say})
		if out, err := (&exec.Cmd{Path: path, Args: args}).Output(); string(out) != "1\n" || err != nil {
			t.Errorf("%s: %q, %v", say, out, err)
		}
	}
	if c := From(own, &job.Inherit{Policy: "--none 7"}); c == nil || len(c.Refused) != 1 || c.Prefix != nil {
		t.Errorf("what cannot be had: %+v", c)
	}
}
