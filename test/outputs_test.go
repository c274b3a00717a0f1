package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/server/report"
)

// TestOutputs checks that tasks of a bag with --outputs run in folders of their own. Tasks whose workers are killed
// are run again, and in the end exactly the files that match the patterns are there, once.
func TestOutputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\necho by $BERTH_ATTEMPT >$1.tmp\nwhile [ ! -e $BERTH_DIR/go ]; do sleep 0.1; done\ncp $1 a-$1.res; gzip -k $1\n")
	for _, name := range []string{"x", "y"} {
		w.write(name, "content of "+name)
	}
	r := w.start("bag", "--workers", "2", "--outputs", "a-*.res", "--outputs", "{}.gz", "--stdout", "out/{task}", "--stderr", "none", "--", "./task.sh", "{}", ":::", "x", "y")
	folders := func() []string {
		list, _ := filepath.Glob(filepath.Join(w.dir, ".*.outputs.part", "*.tmp"))
		return list
	}
	w.await("both tasks run in folders of their own", func() bool { return len(folders()) == 2 })
	w.await("their progress is measured", func() bool {
		var list report.StatusList
		if err := json.Unmarshal([]byte(w.must("status", "--json").stdout), &list); err != nil {
			t.Fatal(err)
		}
		for _, v := range list.Jobs {
			for _, task := range v.Running {
				if task.Source == "io" || task.Source == "cpu" {
					return true
				}
			}
		}
		return false
	})
	for _, pid := range w.workers() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	w.write("go", "")
	if end := w.finish(r); end.code != 0 {
		t.Fatalf("the job failed: %v", end)
	}
	for _, name := range []string{"x", "y"} {
		if got := w.read("a-" + name + ".res"); got != "content of "+name {
			t.Errorf("a-%s.res is %q", name, got)
		}
	}
	var names []string
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "a-x.res a-y.res go out task.sh x x.gz y y.gz" {
		t.Errorf("the folder has %s", got)
	}
	if got := w.must("report").stdout; !strings.Contains(got, "2 lost") {
		t.Errorf("the report does not tell of the attempts that were lost:\n%s", got)
	}
}

// TestOutputNames checks that what a task prints and a file that it leaves never replace each other without a word.
func TestOutputNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.berth("bag", "--stdout", "{}.st", "--outputs", "*.st", "--", "echo kept >{}.st", ":::", "a")
	if all := r.stdout + r.stderr; r.code == 0 || !strings.Contains(all, "a.st, and so does a file that --outputs keeps") {
		t.Errorf("two files of one name: %v", r)
	}
	w.must("bag", "--stdout", "{1}", "--outputs", "x.{1}", "--", "echo printed; echo kept >x.{1}", ":::", "outputs")
	if printed, kept := w.read("outputs"), w.read("x.outputs"); printed != "printed\n" || kept != "kept\n" {
		t.Errorf("the task printed %q and left %q", printed, kept)
	}
	r = w.berth("bag", "--stdout", "{}"+strings.Repeat("n", 255), "--", "echo >ran", ":::", "a")
	if all := r.stdout + r.stderr; r.code == 0 || !strings.Contains(all, "file name too long") || w.lines("ran") != 0 {
		t.Errorf("a name that is too long: %v", r)
	}
}
