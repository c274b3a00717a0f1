package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shellBerth runs berth from a shell after a command that changes the shell's settings.
func (w *world) shellBerth(setup string, args ...string) result {
	w.t.Helper()
	berth := w.command(args...)
	cmd := exec.Command("/bin/sh", append([]string{"-c", setup + `; exec "$0" "$@"`, berth.Path}, berth.Args[1:]...)...)
	cmd.Dir, cmd.Env = berth.Dir, berth.Env
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
