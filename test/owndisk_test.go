package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// copied returns the bytes that the tasks of a job fetched.
func (w *world) copied(id job.ID) (bytes int64) {
	w.t.Helper()
	for _, e := range w.records(id) {
		if r, ok := e.Record.(event.AttemptEnded); ok {
			for _, s := range r.Stats {
				if s.Phase == job.PhaseFetch {
					bytes += s.NetBytes
				}
			}
		}
	}
	return bytes
}

// TestLocal: the tasks of a bag with --local run on another disk, with one copy of the file that all read, and the job's folder has what it has
// without --local. A node whose disk is that of the job's folder runs them as without it, and says so.
func TestLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := filepath.Join(w.root, "disk")
	w.smallDisk(disk, "size=16m,mode=0700")
	w.write("ref/data", strings.Repeat("reference\n", 100000))
	args := []string{"bag", "--workers", "2", "--idle-timeout", "1s", "--inputs", "ref/*", "--outputs", "out/{}", "--stdout", "printed/{task}"}
	command := []string{"--array", "1-20", "--", "sh", "-c", "(cat ref/data; echo $BERTH_TASK_ID) >out/{}; wc -l <out/{}; pwd >>out/seen"}
	w.must(append(args, command...)...)
	plain := w.tree("out", "printed")
	for _, name := range []string{"out", "printed"} {
		w.ok(os.RemoveAll(filepath.Join(w.dir, name)))
	}
	last := func() job.ID { ids := w.jobs(); return ids[len(ids)-1] }

	w.must(append(append(args, "--local", "--scratch", disk), command...)...)
	if got := w.tree("out", "printed"); got != plain || strings.Count(got, "\n") != 40 {
		t.Errorf("without --local:\n%s\nwith it:\n%s", plain, got)
	}
	if n := w.copied(last()); n != 1000000 {
		t.Errorf("%d bytes were copied for 20 tasks of two workers that read one file of 1 MB", n)
	}
	if parts := w.hidden(); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}

	res := w.must(append(append(args, "--local"), command...)...)
	if n := w.copied(last()); n > 0 || !strings.Contains(res.stderr, "--local has no effect") {
		t.Errorf("%d bytes were copied on the disk of the job's folder:\n%s", n, res.stderr)
	}

	w.write("a", "a")
	w.write("b", "b")
	w.must("bag", "--workers", "2", "--local", "--scratch", disk, "--stdout", "printed/{task}", "--", "cat", "{}", ":::", "a", "b", "b", "a")
	if r, is := w.records(last())[0].Record.(event.JobSubmitted); !is || fmt.Sprint(r.Work.DataHosts) != "[{ [0 3]} { [1 2]}]" {
		t.Errorf("the tasks that read the same file are %v", r.Work.DataHosts)
	}

	for _, c := range []struct {
		says string
		args []string
	}{
		{"nothing in " + w.dir + " matches --inputs none", []string{"--inputs", "none", "--", "true"}},
		{"the task left nothing that matches --outputs made", []string{"--outputs", "made", "--", "true"}},
		{"name what tasks leave with --outputs", []string{"--", "touch", "made"}},
	} {
		r := w.berth(append([]string{"bag", "--local", "--scratch", disk, "--array", "1"}, c.args...)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: exit %d, want %q in\n%s", c.args, r.code, c.says, r.stderr)
		}
	}
}
