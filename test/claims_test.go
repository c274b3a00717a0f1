package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// exists reports whether there is a file in the user's folder.
func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// beside checks the only file that a job has left beside a place: its content, and that the report names it.
func (w *world) beside(id, name, content string) {
	w.t.Helper()
	parts, _ := filepath.Glob(filepath.Join(w.dir, "."+name+"."+id+".*.part"))
	if len(parts) != 1 {
		w.t.Fatalf("of %s there is beside %s: %q", id, name, parts)
	}
	if b, err := os.ReadFile(parts[0]); err != nil || string(b) != content {
		w.t.Errorf("%s has %q, %v; want %q", parts[0], b, err, content)
	}
	if got := w.must("report", id).stdout; !strings.Contains(strings.ReplaceAll(got, "\n", ""), filepath.Base(parts[0])) {
		w.t.Errorf("the report of %s does not name %s:\n%s", id, parts[0], got)
	}
}

// oldTask is a task that prints its argument, leaves it in a file, and ends when it may, whatever signals it gets.
const oldTask = "#!/bin/sh\ntrap '' TERM\necho $1; echo $1 >$1.res\n>$BERTH_DIR/begun\nwhile [ ! -e $BERTH_DIR/go ]; do sleep 0.1; done\n"

// TestOutputOfTheLaterJob checks that a file belongs to the job that claimed it last: a task that was cancelled and ends late does not put its
// own there, whatever name leads to the file. A job that is resumed claims its files anew.
func TestOutputOfTheLaterJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Symlink(".", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.write("old.sh", oldTask)
	w.must("bag", "--detach", "--stdout", "out-{task}", "--", "./old.sh", ":::", "old")
	w.await("the task to run", func() bool { return w.exists("begun") })
	cancel := w.start("cancel", "bag-1")
	w.await("the cancel", func() bool { return strings.Contains(w.must("status").stdout, "stopping") })
	w.must("bag", "--stdout", "link/out-{task}", "--", "echo", ":::", "new")
	w.write("go", "")
	w.finish(cancel)
	w.berth("wait", "bag-1")
	if got := w.read("out-1"); got != "new\n" {
		t.Errorf("the file of the later job has %q", got)
	}
	w.beside("bag-1", "out-1", "old\n")
	w.must("resume", "bag-1")
	if got := w.read("out-1"); got != "old\n" {
		t.Errorf("the resumed job claimed its file last, which has %q", got)
	}
}

// TestOutputsOfTheLaterJob checks the same of a task that runs on while the later job comes and ends, and of files that tasks leave, although
// the coordinator dies meanwhile. Files that the later job does not write are put into place.
func TestOutputsOfTheLaterJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("old.sh", oldTask)
	w.must("bag", "--detach", "--stdout", "old-{task}", "--outputs", "{}.res", "--", "./old.sh", ":::", "x")
	w.await("the task to run", func() bool { return w.exists("begun") })
	w.must("bag", "--outputs", "*.res", "--", "echo new >{}.res", ":::", "x")
	w.killServer()
	w.write("go", "")
	w.must("wait", "bag-1")
	if got := w.read("x.res"); got != "new\n" {
		t.Errorf("the file of the later job has %q", got)
	}
	if got := w.read("old-1"); got != "x\n" {
		t.Errorf("the file that the earlier job alone writes has %q", got)
	}
	w.beside("bag-1", "x.res", "x\n")
}

// TestJoblogOfTheLaterJob checks that a job log that two jobs name has all lines of the later one and no others, and that the earlier job says
// whose it is.
func TestJoblogOfTheLaterJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\n[ $1 = 1 ] || while [ ! -e go ]; do sleep 0.1; done\n")
	w.must("bag", "--detach", "--joblog", "log", "--", "./task.sh", ":::", "1", "2", "3")
	w.await("a line of the first job", func() bool { return strings.Contains(w.read("log"), "task.sh 1\n") })
	w.must("bag", "--detach", "--joblog", "./log", "--", "./task.sh", "{}", "later", ":::", "1", "2")
	w.killServer()
	w.must("status")
	w.write("go", "")
	w.must("wait", "bag-1")
	w.must("wait", "bag-2")
	log := w.read("log")
	if strings.Count(log, "\n") != 3 || strings.Count(log, " later\n") != 2 {
		t.Errorf("the log has\n%s", log)
	}
	if got := w.must("report", "bag-1").stdout; !strings.Contains(got, "bag-2, which named the file later") {
		t.Errorf("the report of the first job does not say whose its log is:\n%s", got)
	}
}

// TestJoblogOnAFullDisk checks that the command and the report say that a job log is not complete, that the log then ends with a whole line,
// and that it is completed, and nothing said any more, once there is room: by the same coordinator and by the next one.
func TestJoblogOnAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	small := filepath.Join(w.dir, "small")
	w.smallDisk(small, "size=64k,mode=0700")
	const tasks = "2000"
	for i, killed := range []bool{false, true} {
		if err := os.WriteFile(filepath.Join(small, "fill"), make([]byte, 56<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		id := []string{"bag-1", "bag-2"}[i]
		r := w.berth("bag", "--joblog", "small/log", "--stdout", "none", "--array", "1-"+tasks, "--", "true")
		if r.code != 255 || !strings.Contains(r.stderr, "no space left on device") || !strings.Contains(r.stderr, "job log is not complete") {
			t.Errorf("the job says %v", r)
		}
		if got := w.must("report", id).stdout; !strings.Contains(got, "job log is not complete") {
			t.Errorf("the report does not tell of the log:\n%s", got)
		}
		if log := w.read("small/log"); strings.Count(log, "\n") > 2000 || !strings.HasSuffix(log, "\n") {
			t.Errorf("the log has %d lines and ends with %q", strings.Count(log, "\n"), log[max(0, len(log)-40):])
		}
		if killed {
			w.killServer()
		}
		if err := unix.Mount("berth-test", small, "tmpfs", unix.MS_REMOUNT, "size=1m"); err != nil {
			t.Fatal(err)
		}
		if killed {
			w.must("bag", "--stdout", "none", "--", "true", ":::", "x") // starts the next coordinator
		}
		w.await("the log to be complete", func() bool { return strings.Count(w.read("small/log"), "\n") == 2001 })
		w.await("the report to say nothing of it", func() bool { return !strings.Contains(w.must("report", id).stdout, "job log") })
		if r := w.berth("wait", id); r.code != 0 {
			t.Errorf("the job whose log is complete: %v", r)
		}
		for _, name := range []string{"log", "fill"} {
			if err := os.Remove(filepath.Join(small, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Mount("berth-test", small, "tmpfs", unix.MS_REMOUNT, "size=64k"); err != nil {
			t.Fatal(err)
		}
	}
}
