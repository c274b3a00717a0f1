package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/wire"
)

func TestStreamingEnvironment(t *testing.T) {
	_, p := startWorker(t)
	s := streaming(t, fruit, []string{"script.sh", "x"}, nil)
	script := filepath.Join(s.Dir, "script.sh") // shipped, and not executable
	text := "#!/bin/sh\ncat > /dev/null; env; pwd; ls; cat words/sub/file; echo arg $1\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	content, archive := t.TempDir(), filepath.Join(s.Dir, "words.tgz")
	if err := errors.Join(os.Mkdir(filepath.Join(content, "sub"), 0o700),
		os.WriteFile(filepath.Join(content, "sub", "file"), []byte("from the archive\n"), 0o600),
		exec.Command("tar", "-czf", archive, "-C", content, "sub").Run()); err != nil {
		t.Fatal(err)
	}
	s.MapReduce.Files = []job.ShipFile{{Path: script, Name: "script.sh"}, {Path: archive, Name: "words", Archive: true}}
	s.MapReduce.Conf = map[string]string{"my.own.key": "value"}
	s.MapReduce.Env = append(s.MapReduce.Env, "TMPDIR=/the/users", "BERTH_ATTEMPT=7", "OMP_NUM_THREADS=3")
	p.job(s, 3, 0)
	p.say(startMap(s, 2, 1, split(s, 0, 100)))
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: try(s.ID, 2, 1)})
	p.ended(event.Done)
	got := read(t, filepath.Join(s.MapReduce.Output, "part-00002"))
	for _, want := range []string{`my_own_key=value`, `mapreduce_task_partition=2`, `mapreduce_map_input_file=file:` + s.MapReduce.Inputs[0],
		`BERTH_TASK_ID=m-00002`, `BERTH_JOB_ID=mr-1`, `BERTH_ATTEMPT=1`, `OMP_NUM_THREADS=3`, `TMPDIR=.*/work/tmp`, `script.sh`, `words`, `from the archive`, `arg x`, `.*/mr-1/m-00002\.1/work`} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "TMPDIR=/the/users") || strings.Contains(got, "BERTH_ATTEMPT=7") {
		t.Errorf("a variable is there twice:\n%s", got)
	}
	if st, err := os.Stat(script); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the user's script was changed: %v, %v", st.Mode(), err)
	}
}

func TestStreamingFailures(t *testing.T) {
	tests := []struct {
		name   string
		mapper []string
		change func(*job.MapReduceSpec)
		exit   int
		reason string
		stderr string
	}{
		{"exit status", []string{"sh", "-c", "cat >/dev/null; echo trouble >&2; exit 4"}, nil, 4, `exit status 4`, `^trouble$`},
		{"not found", []string{"no-such-mapper"}, nil, 127, `not found: no-such-mapper`, `^$`},
		{"no progress", []string{"sleep", "1000"}, func(m *job.MapReduceSpec) { m.TaskTimeout = 50 * time.Millisecond }, 0,
			`no progress`, `^$`},
		{"memory", []string{"sh", "-c", `x=$(head -c 60000000 /dev/zero | tr '\0' x); echo ${#x}; sleep 1000`},
			func(m *job.MapReduceSpec) { m.MapNeed.Mem = 20 << 20 }, 0, `used .* of its`, `^$`},
		{"combiner", []string{"cat"}, func(m *job.MapReduceSpec) { m.Combiner = &job.Program{Args: []string{"false"}} }, 1,
			`^combiner: exit status 1$`, `^$`},
		{"shipped file missing", []string{"cat"}, func(m *job.MapReduceSpec) {
			m.Files = []job.ShipFile{{Path: "/no/such/file", Name: "f"}}
		}, 0, `shipped file /no/such/file cannot be read`, `^$`},
		{"shipped outside", []string{"cat"}, func(m *job.MapReduceSpec) {
			m.Files = []job.ShipFile{{Path: "/etc/passwd", Name: "../f"}}
		}, 0, `outside of the task's folder`, `^$`},
		{"debug script", []string{"sh", "-c", "echo trouble >&2; exit 1"}, func(m *job.MapReduceSpec) {
			m.MapDebug = "cat"
			m.Conf = map[string]string{"a.key": "<value>"}
		}, 1, `exit status 1`, `(?s)trouble\n.*exit status 1.*<name>a.key</name>\n *<value>&lt;value&gt;</value>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, p := startWorker(t)
			s := streaming(t, fruit, tt.mapper, count)
			if tt.change != nil {
				tt.change(s.MapReduce)
			}
			p.job(s, 1, 1)
			p.say(startMap(s, 0, 1, split(s, 0, 100)))
			m := p.ended(event.Failed)
			if m.Exit != tt.exit || !regexp.MustCompile(tt.reason).MatchString(m.Reason) {
				t.Errorf("exit %d, %q; want %d, %q", m.Exit, m.Reason, tt.exit, tt.reason)
			}
			if !regexp.MustCompile(tt.stderr).MatchString(m.Stderr) {
				t.Errorf("stderr is %q, want %q", m.Stderr, tt.stderr)
			}
			left, err := filepath.Glob(filepath.Join(c.dir, "scratch", "*", "mr-1", "m-*"))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}

// Programs that are odd, and right.
func TestOddPrograms(t *testing.T) {
	const megabyte = 1 << 20
	big := strings.Repeat("x", 3*megabyte) + "\n"
	tests := []struct {
		name, input string
		mapper      string
		want        string
		hasty       bool // the grace has to pass
	}{
		{"reads nothing", strings.Repeat(fruit, 100_000), "echo only this", "only this\n", false},
		{"reads a bit", strings.Repeat(fruit, 100_000), "head -n 1", "pear\n", false},
		{"writes nothing", fruit, "cat > /dev/null", "", false},
		{"no newline at the end", fruit, "printf 'a\\nb'", "a\nb\n", false},
		{"line larger than the pipe", big, "cat", big, false},
		{"writes all before it reads", fruit, "head -c 3000000 /dev/zero | tr '\\0' x; echo; cat > /dev/null", strings.Repeat("x", 3_000_000) + "\n", false},
		{"closes its input", strings.Repeat(fruit, 100_000), "exec 0<&-; echo closed", "closed\n", false},
		{"writes after its end", fruit, `cat > /dev/null; (while kill -0 $$ 2>/dev/null; do :; done; echo late) & exit 0`, "late\n", false},
		{"leaves a process outside of its group", fruit, `setsid sleep 1000 & cat`, fruit, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCoord(t)
			cfg := c.config("a1/0")
			if tt.hasty {
				cfg.Grace, cfg.Idle = hasty, hasty
			}
			p, _ := c.worker(cfg)
			s := streaming(t, tt.input, []string{"sh", "-c", tt.mapper}, nil)
			s.MapReduce.Conf = map[string]string{process.SkipKey: "1"}
			p.job(s, 1, 0)
			p.say(startMap(s, 0, 1, split(s, 0, 1<<40)))
			expect[wire.CommitWanted](p)
			p.say(wire.Commit{Attempt: try(s.ID, 0, 1)})
			p.ended(event.Done)
			if got := read(t, filepath.Join(s.MapReduce.Output, "part-00000")); got != tt.want {
				t.Errorf("output of %d bytes %.80q, want %d bytes %.80q", len(got), got, len(tt.want), tt.want)
			}
		})
	}
}

func TestReportsAndLog(t *testing.T) {
	c, p := startWorker(t)
	s := streaming(t, fruit, []string{"sh", "-c", `cat; echo reporter:counter:G,C,5 >&2; echo hello >&2; echo reporter:counter:G,C,-2 >&2`}, count)
	p.job(s, 1, 1)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	m := p.ended(event.Done)
	if m.Counters["G,C"] != 3 {
		t.Errorf("counters %v", m.Counters)
	}
	if got := read(t, filepath.Join(c.dir, "run", "logs", "m-00000.1.stderr")); got != "hello\n" {
		t.Errorf("log is %q", got)
	}
}

// A non-zero exit is no failure where the job says so.
func TestLaxExit(t *testing.T) {
	_, p := startWorker(t)
	s := streaming(t, fruit, []string{"sh", "-c", "cat; exit 7"}, nil)
	s.MapReduce.NonZeroExitIsFail = false
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: try(s.ID, 0, 1)})
	p.ended(event.Done)
}

func TestKillOfStreamingTask(t *testing.T) {
	_, p := startWorker(t)
	s := streaming(t, fruit, nil, nil)
	ready := fifo(t, s.Dir, "ready")
	s.MapReduce.Mapper.Args = []string{"sh", "-c", "echo $$ > " + ready + "; sleep 1000"}
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	var leader int
	if _, err := fmt.Sscan(hear(t, ready), &leader); err != nil {
		t.Fatal(err)
	}
	p.say(wire.Kill{Attempt: try(s.ID, 0, 1), Reason: "job cancelled"})
	if m := p.ended(event.Killed); m.Reason != "job cancelled" {
		t.Errorf("reason is %q", m.Reason)
	}
	awaitDeath(t, leader)
	names(t, filepath.Join(s.MapReduce.Output, "_temporary", "mr-1"))
}
