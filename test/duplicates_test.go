package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/event"
)

// TestDuplicate checks that a task whose first attempt hangs gets a second attempt on the other worker, which completes it. The first attempt is
// killed. The output is committed once, and the first attempt leaves no files.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", `#!/bin/sh
echo $1 by $BERTH_ATTEMPT
[ $1 != 2 ] || [ $BERTH_ATTEMPT != 1 ] || exec sleep 1000
i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done
`)
	w.must("bag", "--workers", "2", "--cpus-per-task", "1", "--duplicates-ok", "--speculation", "100%", "--stdout", "out/{task}", "--stderr", "none", "--array", "1-6", "--", "./task.sh", "{}")
	id := w.jobs()[0]
	begun, killed := 0, 0
	for _, e := range w.records(id) {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			if r.Commit {
				t.Errorf("%v may commit without asking, though it may get a duplicate", r.Attempt)
			}
			if r.Attempt.Task == 1 {
				begun++
			}
		case event.AttemptEnded:
			if r.Attempt.Task == 1 && r.Outcome == event.Killed {
				killed++
			}
		}
	}
	if begun < 2 || killed != begun-1 {
		t.Errorf("%d attempts of the task that hung were begun, %d killed", begun, killed)
	}
	if r := w.must("report", string(id), "--json"); !strings.Contains(r.stdout, `"task 2, attempt `) {
		t.Errorf("the report does not name the attempt that was ended: %v", r)
	}
	checkOnce(t, w.records(id))
	for i := 1; i <= 6; i++ {
		// On a busy machine others may be late, too, but only the second needs another attempt.
		if got := w.read(fmt.Sprintf("out/%d", i)); !strings.HasPrefix(got, fmt.Sprintf("%d by ", i)) || got == "2 by 1\n" {
			t.Errorf("task %d wrote %q", i, got)
		}
	}
	left, err := os.ReadDir(filepath.Join(w.dir, "out"))
	if err != nil || len(left) != 6 {
		t.Errorf("there is %v (%v)", left, err)
	}
}
