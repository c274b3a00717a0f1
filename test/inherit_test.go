package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// shellBerth runs berth from a shell after a command that changes the shell's settings.
func (w *world) shellBerth(setup string, args ...string) result {
	w.t.Helper()
	berth := w.command(args...)
	cmd := exec.Command("/bin/sh", append([]string{"-c", setup + `; exec "$0" "$@"`, berth.Path}, berth.Args[1:]...)...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = berth.Dir, berth.Env, berth.SysProcAttr
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	_ = cmd.Run() // the exit code is in the state
	return result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: said.String()}
}

// TestInherit checks that tasks have the file mode mask, the limits and the nice value of the command that submitted
// their job, and not of the command that started the coordinator.
func TestInherit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--", "true", ":::", "x") // starts the coordinator
	const say = "umask; ulimit -S -n; ulimit -S -c; ulimit -S -f"
	r := w.shellBerth("umask 027; ulimit -S -n 83; ulimit -S -c 0; ulimit -S -f 4000", "bag", "--stdout", "sub/{task}.out", "--", say+" # {}", ":::", "a", "b")
	if r.code != 0 {
		t.Fatalf("%v", r)
	}
	for _, task := range []string{"1", "2"} {
		if got := strings.Fields(w.read("sub/" + task + ".out")); len(got) != 4 || got[0] != "0027" || got[1] != "83" || got[2] != "0" || got[3] != "4000" {
			t.Errorf("task %s has %q", task, got)
		}
		w.mode("sub/"+task+".out", 0o640)
	}
	w.mode("sub", 0o750)
	w.write("in.txt", "a\n")
	r = w.shellBerth("umask 077; ulimit -S -n 91", "mapreduce", "-input", "in.txt", "-output", "out", "-mapper", "sh -c 'umask; ulimit -S -n'", "-numReduceTasks", "0")
	if got := w.read("out/part-00000"); r.code != 0 || !strings.Contains(got, "0077") || !strings.Contains(got, "91") {
		t.Errorf("the mapper has %q: %v", got, r)
	}
	w.mode("out/part-00000", 0o600)
	r = w.shellBerth("umask 022", "bag", "--", "umask; # {}", ":::", "a")
	if got := w.read(string(w.jobs()[3]) + "/1.stdout"); r.code != 0 || strings.TrimSpace(got) != "0022" {
		t.Errorf("a mask of an earlier job stays: %q, %v", got, r)
	}
}

// mode checks the permission bits of a file or folder.
func (w *world) mode(name string, want os.FileMode) {
	w.t.Helper()
	st, err := os.Stat(filepath.Join(w.dir, name))
	if err != nil || st.Mode().Perm() != want {
		w.t.Errorf("%s has mode %v, want %v (%v)", name, st.Mode(), want, err)
	}
}

// TestInheritScheduling checks that tasks have the nice value, cores, scheduling policy, disk priority and place among those
// that the kernel ends for lack of memory of the command that submitted their job, whatever the command had that started the
// coordinator, and that the plan of a job says how many cores that leaves and what the user may not have back. A command
// in a batch job has the cores of that job.
func TestInheritScheduling(t *testing.T) {
	t.Parallel()
	worlds := map[string]*world{"the user of the test": newWorld(t)}
	if os.Getuid() == 0 {
		worlds["another user"] = newVictim(t)
	}
	const say = `echo nice $(nice); chrt -p $$ | sed 's/.*: /policy /'; echo io $(ionice); echo oom $(cat /proc/self/oom_score_adj); echo size $(ulimit -S -f)`
	for who, w := range worlds {
		plain := w.shell("exec sh -c \"$1\"", say)
		all := "nice -n 3 ionice -c 3 choom -n 300 -- chrt --batch 0"
		w.run("ulimit -S -f 4000", "taskset -c "+firstCore(t)+" "+all, say) // starts the coordinator
		for _, with := range []string{"", "nice -n 2", "ionice -c 2 -n 7", "choom -n 200 --", "chrt --idle 0", all} {
			got, r := w.run(":", with, say)
			want := w.shell("exec "+with+" sh -c \"$1\"", say)
			if note := "the nice value"; strings.Contains(r.stderr, note) { // of a user who may not lower it
				if os.Getuid() == 0 && w.user == 0 {
					t.Errorf("%s, %q: root may: %s", who, with, r.stderr)
				}
				got, want = withoutNice(got), withoutNice(want)
			}
			if got != want {
				t.Errorf("%s, %q: a task has\n%swant\n%s(alone:\n%s)", who, with, got, want, plain)
			}
		}
		if r := w.must("bag", "--", "true", ":::", "1"); !strings.Contains(r.stderr, fmt.Sprintf("1 node × %s", job.Count(runtime.NumCPU(), "core"))) {
			t.Errorf("%s: a job after that of a bound command: %v", who, r)
		}
		if r := w.shellBerth("export JOB_ID=1 NSLOTS=1", "bag", "--", "true", ":::", "1"); !strings.Contains(r.stderr, "1 node × 1 core:") {
			t.Errorf("%s: a command in a batch job of one slot: %v", who, r)
		}
		bound := "taskset -c " + firstCore(t)
		_, r := w.run(":", bound, "taskset -cp $$")
		if !strings.Contains(r.stderr, "1 node × 1 core:") || !strings.HasSuffix(strings.TrimSpace(w.read("said.1")), " "+firstCore(t)) {
			t.Errorf("%s: a bound command: %v; its task says %s", who, r, w.read("said.1"))
		}
	}
}

// firstCore returns the first core on which the test may run.
func firstCore(t *testing.T) string {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	id := 0
	for !set.IsSet(id) {
		id++
	}
	return strconv.Itoa(id)
}

func withoutNice(said string) string {
	_, rest, _ := strings.Cut(said, "\n")
	return rest
}

// shell runs a script of the user with one argument, and returns what it says.
func (w *world) shell(script, arg string) string {
	w.t.Helper()
	cmd := w.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", script, "sh", arg}
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}

// run submits a bag of one task, which runs a script, by a command that starts with the words with after a setup, and returns
// what the task says.
func (w *world) run(setup, with, script string) (string, result) {
	w.t.Helper()
	r := w.shellBerth(setup+`; with() { exec `+with+` "$@"; }; with "$0" "$@"`, "bag", "--stdout", "said.{task}", "--", script+" # {}", ":::", "1")
	if r.code != 0 {
		w.t.Fatalf("%s: %v", with, r)
	}
	return w.read("said.1"), r
}
