package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/task"
	"berth/internal/node/collect"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

func TestBagTask(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo out {}; echo err >&2; pwd`)
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "one two"))
	m := p.ended(event.Done)

	out := filepath.Join(s.Dir, "bag-1", "1.stdout")
	if got, want := read(t, out), "out one two\n"+s.Dir+"\n"; got != want {
		t.Errorf("stdout is %q, want %q", got, want)
	}
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stderr")); got != "err\n" {
		t.Errorf("stderr is %q", got)
	}
	names(t, filepath.Dir(out), "1.stderr", "1.stdout")
	var phases []job.Phase
	for i, st := range m.Stats {
		phases = append(phases, st.Phase)
		if st.Start > st.End || i > 0 && st.Start != m.Stats[i-1].End {
			t.Errorf("phase %v does not follow the one before: %+v", st.Phase, m.Stats)
		}
	}
	if want := fmt.Sprint(job.BagTask.Phases()); fmt.Sprint(phases) != want {
		t.Errorf("phases %v, want %v", phases, want)
	}
	if st := m.Stats[1]; st.CPU <= 0 || st.BytesOut != int64(len(read(t, out))+4) {
		t.Errorf("compute measured as %+v", st)
	}
}

// TestMemoryOfShortTask: the kernel's figure for a program begins with the memory of the worker that started it,
// so that of a program which is over at once says nothing unless it held more than the worker.
func TestMemoryOfShortTask(t *testing.T) {
	_, p := startWorker(t)
	for _, tt := range []struct {
		id      string
		command []string
		known   bool
	}{{"bag-1", []string{"true"}, false}, {"bag-2", []string{"sh", "-c", "head -c 250000000 /dev/zero | tail | wc -c; #"}, true}} {
		s := bag(t, tt.command...)
		s.ID = job.ID(tt.id)
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1), "x"))
		st := p.ended(event.Done).Stats[1]
		if known := st.PeakMemory > 0; known != tt.known || known && st.PeakMemory < 200<<20 {
			t.Errorf("%q held %d bytes", tt.command, st.PeakMemory)
		}
	}
}

// TestMissingShell: on a node without the user's shell another one runs the command, unless the user named it.
func TestMissingShell(t *testing.T) {
	_, p := startWorker(t)
	for _, tt := range []struct {
		named   bool
		program string
		outcome event.Outcome
		ran     string
	}{
		{false, "/nowhere/sh", event.Done, "sh\n"}, {false, "/nowhere/zsh-of-elsewhere", event.Done, "sh\n"},
		{true, "/nowhere/zsh", event.Failed, ""}, {true, "zsh-of-elsewhere", event.Failed, ""},
	} {
		s := shell(t, "echo ${0##*/} # {}")
		s.ID = job.ID(fmt.Sprintf("bag-%d", s.Bag.Need.CPUs+len(tt.program)))
		s.Bag.ShellProgram, s.Bag.ShellNamed = tt.program, tt.named
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1), "a b"))
		m := p.ended(tt.outcome)
		if said := strings.Contains(m.Reason, "name another one"); said != tt.named {
			t.Errorf("%+v: %q", tt, m.Reason)
		}
		if tt.ran != "" && read(t, filepath.Join(s.Dir, string(s.ID), "1.stdout")) != tt.ran {
			t.Errorf("%+v: another shell ran", tt)
		}
	}
}

// names checks what a folder holds, hidden files included.
func names(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func TestBagEnvironment(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `env; ls -A "$BERTH_TASK_DIR" | wc -l; stat -c %a "$BERTH_TASK_DIR"; touch "$BERTH_TASK_DIR/left"`)
	s.Bag.Env = []string{"PATH=" + os.Getenv("PATH"), "MINE=x y", "BERTH_JOB_ID=outer", "SLURM_ARRAY_TASK_ID=99"}
	s.Bag.Array, s.Bag.Need.CPUs = true, 2
	p.job(s, 0, 0)
	var dirs []string
	for n := 1; n <= 2; n++ { // the second finds its folder empty although the first left something
		p.say(start(try(s.ID, 0, n), "17"))
		p.ended(event.Done)
		text := read(t, filepath.Join(s.Dir, "bag-1", "17.stdout"))
		for _, want := range []string{"MINE=x y", "BERTH_JOB_ID=bag-1", "BERTH_TASK_ID=17", "BERTH_ENTRY=17",
			"SLURM_ARRAY_TASK_ID=17", "OMP_NUM_THREADS=2", "BERTH_ATTEMPT=" + strconv.Itoa(n)} {
			if !strings.Contains("\n"+text, "\n"+want+"\n") {
				t.Errorf("attempt %d: %s is missing in\n%s", n, want, text)
			}
		}
		if !strings.HasSuffix(text, "\n0\n700\n") {
			t.Errorf("attempt %d: its folder is not empty and private:\n%s", n, text)
		}
		dir := regexp.MustCompile(`(?m)^BERTH_TASK_DIR=(.*)$`).FindStringSubmatch(text)
		if dir == nil {
			t.Fatal("no BERTH_TASK_DIR")
		}
		dirs = append(dirs, dir[1])
	}
	for _, d := range dirs {
		if _, err := os.Stat(d); err == nil {
			t.Errorf("%s is still there with what the task left", d)
		}
	}
}

func TestBagFailures(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	orphan := filepath.Join(dir, "orphan")
	if err := os.WriteFile(orphan, []byte("#!/no/such/interpreter\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	windows := filepath.Join(dir, "windows")
	if err := os.WriteFile(windows, []byte("#!/bin/sh\r\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	tests := []struct {
		name         string
		spec         func() *job.Spec
		exit, signal int
		reason       string // regular expression
		stderr       string
	}{
		{"exit status", func() *job.Spec { return shell(t, "echo one >&2; echo two >&2; exit 3") }, 3, 0, `^exit status 3$`, "one\ntwo"},
		{"signal", func() *job.Spec { return shell(t, "kill -SEGV $$") }, 0, 11, `^killed by signal 11 \(SIGSEGV\)$`, ""},
		{"not in PATH", func() *job.Spec { return bag(t, "no-such-command") }, 127, 0, `^not found: no-such-command`, ""},
		{"no such file", func() *job.Spec { return bag(t, "/no/such/file") }, 127, 0, `^not found: /no/such/file`, ""},
		{"not executable", func() *job.Spec { return bag(t, plain) }, 126, 0, `permission denied; chmod \+x`, ""},
		{"no interpreter", func() *job.Spec { return bag(t, orphan) }, 126, 0, `interpreter in its first line, /no/such/interpreter, does not exist`, ""},
		{"Windows line ends", func() *job.Spec { return bag(t, windows) }, 126, 0, `Windows line ends`, ""},
		{"NUL in an argument", func() *job.Spec { return bag(t, "echo", "a\x00b") }, 126, 0, `invalid argument`, ""},
		{"no folder", func() *job.Spec {
			s := bag(t, "true")
			s.Dir = "/no/such/folder"
			return s
		}, 126, 0, `the folder /no/such/folder cannot be entered`, ""},
		{"output cannot be made", func() *job.Spec {
			s := bag(t, "true")
			s.Bag.Stdout = "/proc/{task}"
			return s
		}, 0, 0, `output /proc/1 cannot be written`, ""},
		{"time limit", func() *job.Spec {
			s := shell(t, "sleep 1000; echo after >&2") // it may be over before the shell says anything
			s.Bag.TimeLimit = 50 * time.Millisecond
			return s
		}, 0, 0, `time limit`, ""},
		{"memory limit", func() *job.Spec {
			s := shell(t, `echo before >&2; x=$(head -c 60000000 /dev/zero | tr '\0' x); echo ${#x}; sleep 1000; echo after >&2`)
			s.Bag.Need.Mem = 20 << 20
			return s
		}, 0, 0, `used .* of its 20.*; ask for more with --mem`, "before"},
		{"memory limit in another group", func() *job.Spec {
			s := shell(t, `timeout 1000 sh -c 'x=$(head -c 60000000 /dev/zero | tr "\0" x); echo ${#x}; sleep 1000'; echo after >&2`)
			s.Bag.Need.Mem = 20 << 20
			return s
		}, 0, 0, `used .* of its 20.*; ask for more with --mem`, ""},
		{"time limit of what is left", func() *job.Spec {
			s := shell(t, `setsid sh -c 'while :; do :; done' &`)
			s.Bag.TimeLimit = 50 * time.Millisecond
			return s
		}, 0, 0, `time limit.*ended with it, as the program itself had ended: sh \(\d+\)`, ""},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, p := startWorker(t)
			s := tt.spec()
			p.job(s, 0, 0)
			p.say(start(try(s.ID, 0, 1), "x"))
			m := p.ended(event.Failed)
			if m.Exit != tt.exit || m.Signal != tt.signal {
				t.Errorf("case %d: exit %d, signal %d, want %d, %d", i, m.Exit, m.Signal, tt.exit, tt.signal)
			}
			if !regexp.MustCompile(tt.reason).MatchString(m.Reason) {
				t.Errorf("reason is %q, want %q", m.Reason, tt.reason)
			}
			if m.Stderr != tt.stderr {
				t.Errorf("stderr is %q, want %q", m.Stderr, tt.stderr)
			}
		})
	}
}

// A failed attempt's output is there to be looked at; the next attempt takes its place.
func TestOutputOfFailedAttempts(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo $BERTH_ATTEMPT; [ $BERTH_ATTEMPT = 3 ]`)
	p.job(s, 0, 0)
	out := filepath.Join(s.Dir, "bag-1", "1.stdout")

	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Failed)
	if got := read(t, out); got != "1\n" {
		t.Errorf("output of the failed attempt is %q", got)
	}
	second := start(try(s.ID, 0, 2))
	second.Commit = false // another attempt may have won
	p.say(second)
	p.ended(event.Failed)
	if got := read(t, out); got != "1\n" {
		t.Errorf("an attempt without permission wrote %q", got)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(out), ".1.stdout.bag-1.0.2.part"), nil, 0o600); err != nil { // as if lost
		t.Fatal(err)
	}
	p.say(start(try(s.ID, 0, 3)))
	p.ended(event.Done)
	if got := read(t, out); got != "3\n" {
		t.Errorf("output is %q", got)
	}
	names(t, filepath.Dir(out), "1.stdout")
}

func TestKillEndsTheWholeFamily(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Grace = hasty
	p, _ := c.worker(cfg)
	s := shell(t, `trap '' TERM; setsid sh -c 'timeout 1000 env -i sleep 1000 & echo $! > pids; wait' & wait; sleep 1000`)
	pids := fifo(t, s.Dir, "pids")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	var child int
	if _, err := fmt.Sscan(hear(t, pids), &child); err != nil {
		t.Fatal(err)
	}
	p.say(wire.Kill{Attempt: try(s.ID, 0, 1), Reason: "because"})
	m := p.ended(event.Killed)
	if m.Reason != "because" {
		t.Errorf("reason is %q", m.Reason)
	}
	if q, alive := probe.Find(child); alive {
		t.Errorf("it lives on: %+v", q)
	}
	names(t, filepath.Join(s.Dir, "bag-1"))
	// Killed again it is not here any more, which is told, too.
	p.say(wire.Kill{Attempt: try(s.ID, 0, 1), Reason: "again"})
	p.ended(event.Killed)
}

// TestPrintedIsReadAndKept: what a running task has printed can be read, wherever it is printed to, and stays when
// the task is killed because its job was cancelled.
func TestPrintedIsReadAndKept(t *testing.T) {
	for _, collected := range []bool{false, true} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		cfg.Grace = hasty
		p, _ := c.worker(cfg)
		s := shell(t, `echo so far; echo oops >&2; echo > said; sleep 1000`)
		s.Bag.Collect = collected
		said := fifo(t, s.Dir, "said")
		at := try(s.ID, 0, 1)
		p.job(s, 0, 0)
		p.say(start(at))
		hear(t, said)
		for _, r := range []struct {
			wire.ReadOutput
			want string
		}{
			{wire.ReadOutput{N: 1, Attempt: at}, "so far\n"},
			{wire.ReadOutput{N: 2, Attempt: at, Offset: 3}, "far\n"},
			{wire.ReadOutput{N: 3, Attempt: at, Offset: 7}, ""},
			{wire.ReadOutput{N: 4, Attempt: at, Stderr: true}, "oops\n"},
			{wire.ReadOutput{N: 5, Attempt: try(s.ID, 0, 2)}, ""},
		} {
			p.say(&r.ReadOutput)
			if m := expect[*wire.Printed](p); m.N != r.N || string(m.Data) != r.want || m.Error != "" {
				t.Errorf("collected %t: read %+v, want %q", collected, m, r.want)
			}
		}
		p.say(wire.Kill{Attempt: at, Reason: "cancelled", Keep: true})
		p.ended(event.Killed)
		if !collected {
			if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != "so far\n" {
				t.Errorf("the killed task's output is %q", got)
			}
			continue
		}
		x := collect.NewIndex(filepath.Join(s.Dir, string(s.ID)))
		defer x.Close()
		out, err := x.Open(0, 1, collect.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(out); err != nil || string(got) != "so far\n" {
			t.Errorf("the killed task's collected output is %q (%v)", got, err)
		}
	}
}

// TestLeftOversAreEnded: what a task leaves is ended once it does nothing, wherever it is, and told by name. If it had worked after the end of the
// task's program, and can write, the task has failed.
func TestLeftOversAreEnded(t *testing.T) {
	for _, tt := range []struct {
		script  string
		outcome event.Outcome
	}{
		{`sleep 1000 & echo $!`, event.Done},
		{`setsid env -i sleep 1000 < /dev/null > /dev/null 2>&1 & echo $!`, event.Done},
		// It writes for long enough that a busy worker sees it, too.
		{`setsid sh -c 'for i in $(seq 60); do echo late >&2; sleep 0.05; done; exec sleep 1000' & echo $!`, event.Failed},
	} {
		c := newCoord(t)
		cfg := c.config("a1/0")
		cfg.Idle = 2 * time.Second
		p, _ := c.worker(cfg)
		s := shell(t, tt.script)
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		m := p.ended(tt.outcome)
		pid, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(s.Dir, "bag-1", "1.stdout"))))
		if err != nil {
			t.Fatal(err)
		}
		if q, alive := probe.Find(pid); alive || m.Left != fmt.Sprintf("sleep (%d)", pid) || !strings.HasSuffix(m.Reason, m.Left) {
			t.Errorf("%s: %+v is alive: %t; the end tells of %q: %s", tt.script, q, alive, m.Left, m.Reason)
		}
	}
}

// TestRestIsWaitedFor: a task is over when all that it has started is.
func TestRestIsWaitedFor(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `setsid sh -c 'read x < go; seq 3 | sort -r' &`)
	fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	release(t, filepath.Join(s.Dir, "go"))
	if m := p.ended(event.Done); m.Left != "" || m.Reason != "" {
		t.Errorf("%q was ended: %s", m.Left, m.Reason)
	}
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != "3\n2\n1\n" {
		t.Errorf("its output is %q", got)
	}
}

func TestTasksHaveTheirCores(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var ids []int
	for i := 0; len(ids) < 2 && i < 1024; i++ {
		if set.IsSet(i) {
			ids = append(ids, i)
		}
	}
	if len(ids) < 2 {
		t.Skip("this machine lets the test use one core only")
	}
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.CPUs = ids
	p, _ := c.process(cfg)
	s := shell(t, `grep Cpus_allowed_list /proc/self/status; echo > ready.$BERTH_TASK_ID; read x < go.$BERTH_TASK_ID`)
	p.job(s, 0, 0)
	for _, n := range []string{"1", "2"} {
		fifo(t, s.Dir, "ready."+n)
		fifo(t, s.Dir, "go."+n)
		p.say(start(try(s.ID, int(n[0]-'1'), 1)))
	}
	for _, n := range []string{"1", "2"} {
		hear(t, filepath.Join(s.Dir, "ready."+n))
	}
	for _, n := range []string{"1", "2"} {
		release(t, filepath.Join(s.Dir, "go."+n))
		p.ended(event.Done)
	}
	a, b := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")), read(t, filepath.Join(s.Dir, "bag-1", "2.stdout"))
	if a == b || strings.ContainsAny(strings.Fields(a)[1]+strings.Fields(b)[1], "-,") {
		t.Errorf("the tasks ran on %q and %q, want a core each", a, b)
	}
}

func TestOutputDiscarded(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo out; echo err >&2`)
	s.Bag.Stdout, s.Bag.Stderr = job.Discard, job.Discard
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	p.ended(event.Done)
	names(t, s.Dir)
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode()&os.ModeDevice == 0 {
		t.Fatalf("%s is %v (%v)", os.DevNull, st.Mode(), err)
	}
}

// A job is cancelled and run again at once, to the same output. The task of the cancelled
// job ignores SIGTERM and still writes; nothing of that is in the output of the second job.
func TestOutputOfACancelledJobStaysOut(t *testing.T) {
	_, p := startWorker(t)
	out := filepath.Join(t.TempDir(), "out", "{task}.txt")
	script := func(id job.ID, ignore, word string) *job.Spec {
		s := shell(t, ignore+`echo `+word+`; echo > ready; read x < go; echo `+word)
		s.ID, s.Bag.Stdout = id, out
		fifo(t, s.Dir, "ready")
		fifo(t, s.Dir, "go")
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		hear(t, filepath.Join(s.Dir, "ready"))
		return s
	}
	first := script("bag-1", `trap '' TERM; `, "old")
	p.say(wire.Kill{Attempt: try(first.ID, 0, 1), Reason: "cancelled"})
	second := script("bag-2", "", "new")
	release(t, filepath.Join(first.Dir, "go"))
	p.ended(event.Killed)
	release(t, filepath.Join(second.Dir, "go"))
	p.ended(event.Done)
	if got := read(t, filepath.Join(filepath.Dir(out), "1.txt")); got != "new\nnew\n" {
		t.Errorf("the output of the second job is %q", got)
	}
	names(t, filepath.Dir(out), "1.txt")
}

// The worker answers when all is durable whose end it told before it was asked.
func TestSyncIsAnswered(t *testing.T) {
	_, p := startWorker(t)
	s := bag(t, "true")
	p.job(s, 0, 0)
	for i := range 3 {
		p.say(start(try(s.ID, i, 1)))
		p.ended(event.Done)
		p.say(&wire.Sync{N: int64(i) + 7})
		if m := expect[*wire.Synced](p); m.N != int64(i)+7 || m.Error != "" {
			t.Errorf("answered %+v", m)
		}
	}
}

// TestCollectedOutput: what tasks print is found in one file, also that of a failed one, and none of it where another attempt may have won. What a process
// writes that a task left behind is in no later task's output.
func TestCollectedOutput(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo out {}; echo err $BERTH_ATTEMPT >&2; [ {} != bad ]`)
	s.Bag.Collect = true
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "first"))
	p.ended(event.Done)
	p.say(start(try(s.ID, 1, 1), "bad"))
	if m := p.ended(event.Failed); m.Stderr != "err 1" {
		t.Errorf("the errors that are told are %q", m.Stderr)
	}
	second := start(try(s.ID, 1, 2), "bad")
	second.Commit = false // another attempt may have won
	p.say(second)
	p.ended(event.Failed)
	for i := 2; i < 6; i++ {
		p.say(start(try(s.ID, i, 1), "good"))
		p.ended(event.Done)
	}
	x := collect.NewIndex(filepath.Join(s.Dir, "bag-1"))
	defer x.Close()
	want := []string{"out first\n", "out bad\n", "out good\n", "out good\n", "out good\n", "out good\n"}
	for i, out := range want {
		for stream, text := range []string{out, "err 1\n"} {
			r, err := x.Open(i, 1, collect.Stream(stream))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); string(got) != text || err != nil {
				t.Errorf("of task %d stream %d is %q (%v), want %q", i, stream, got, err, text)
			}
		}
	}
	if _, err := x.Open(1, 2, collect.Stdout); !errors.Is(err, collect.ErrNone) {
		t.Errorf("an attempt without permission has output (%v)", err)
	}
}

// TestTaskOfItsOwn: a task with a command, folder, variables, files and needs of its own runs with these, and the next one with the bag's.
func TestTaskOfItsOwn(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `echo bag {}`)
	s.Bag.Env = []string{"PATH=" + os.Getenv("PATH"), "MINE=bag"}
	p.job(s, 0, 0)
	sub := filepath.Join(s.Dir, "sub")
	bin := filepath.Join(sub, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "own"), []byte("#!/bin/sh\necho \"$*\" $MINE $OMP_NUM_THREADS; pwd\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	own := start(try(s.ID, 0, 1))
	own.Task = &task.Spec{Command: []string{"own", "{} {#}"}, Dir: "sub", Env: []string{"MINE=task", "PATH=bin:" + os.Getenv("PATH")},
		Stdout: "logs/out", Needs: job.Needs{CPUs: 2}}
	p.say(own)
	p.ended(event.Done)
	if got, want := read(t, filepath.Join(sub, "logs", "out")), "{} {#} task 2\n"+sub+"\n"; got != want {
		t.Errorf("the task printed %q, want %q", got, want)
	}
	p.say(start(try(s.ID, 1, 1), "x"))
	p.ended(event.Done)
	if got := read(t, filepath.Join(s.Dir, "bag-1", "2.stdout")); got != "bag x\n" {
		t.Errorf("the next task printed %q", got)
	}
}

// TestTaskOwnTimeLimit: the time limit of a task of its own ends it.
func TestTaskOwnTimeLimit(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `sleep 1000 {}`)
	p.job(s, 0, 0)
	own := start(try(s.ID, 0, 1))
	own.Task = &task.Spec{Command: []string{"sleep 1000"}, Shell: true, Needs: job.Needs{TimeLimit: 10 * time.Millisecond}}
	p.say(own)
	if m := p.ended(event.Failed); !strings.Contains(m.Reason, "time limit") {
		t.Errorf("the reason is %q", m.Reason)
	}
}

// TestAddressSpace: a task's address space is limited if the user wants that, and else is as it was.
func TestAddressSpace(t *testing.T) {
	_, p := startWorker(t)
	for i, limited := range []bool{false, true} {
		s := shell(t, "ulimit -v; # {}")
		s.ID = job.ID(fmt.Sprintf("bag-%d", i+1))
		s.Bag.AddressSpace, s.Bag.Need.Mem = limited, 300<<20
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1), "x"))
		p.ended(event.Done)
		if got := read(t, filepath.Join(s.Dir, string(s.ID), "1.stdout")); (got == "307200\n") != limited {
			t.Errorf("limited %t: the address space is %q kB", limited, got)
		}
	}
}

// A task whose folder another one removes, as git clean does, is lost and not failed, a few times.
func TestFolderRemoved(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `[ {} = good ] || rm -rf .[!.]* "$PWD"; echo x >out.{}`)
	s.Bag.Outputs = []string{"out.{}"}
	p.job(s, 0, 0)
	for n, want := range []event.Outcome{event.Lost, event.Lost, event.Lost, event.Failed} {
		p.say(start(try(s.ID, 0, n+1), "bad"))
		if m := p.ended(want); !strings.Contains(m.Reason, "was removed while it ran") {
			t.Errorf("attempt %d: %s", n+1, m.Reason)
		}
	}
	p.say(start(try(s.ID, 1, 1), "good"))
	p.ended(event.Done)
}

// TestForked: a task is forked unless something in its command is its own alone, as then no other one could have the same server.
func TestForked(t *testing.T) {
	forked := func(folder *files.Folder, p *part) bool {
		b := &files.Bag{Folder: folder}
		task := &bagTask{w: &worker{}, a: &attempt{spec: &job.Spec{Bag: &job.BagSpec{Warm: "fit"}}, part: p}, bag: b, files: b}
		var c process.Command
		task.forked(&c)
		return c.Warm != nil
	}
	if !forked(nil, nil) || forked(&files.Folder{}, nil) || forked(nil, &part{}) {
		t.Error("forked: with neither, with a folder, with a gang:", forked(nil, nil), forked(&files.Folder{}, nil), forked(nil, &part{}))
	}
}
