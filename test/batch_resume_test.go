package test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"berth/internal/core/plan"
	"berth/internal/sys/statedir"
)

// TestBatchResumeAgain cancels a bag of 20 tasks when 12 are done, resumes it,
// cancels it when 16 are done, and resumes it again. Each plan is for the tasks that are left at that time,
// and no task is run to its end twice.
func TestBatchResumeAgain(t *testing.T) { onEach(t, testResumeAgain) }

func testResumeAgain(t *testing.T, s system) {
	s.atLeisure(t)
	w, _ := s.world(t, 2)
	w.write("may", "12")
	w.write("task.sh", "#!/bin/sh\nwhile [ $1 -gt $(cat may) ]; do sleep 0.2; done\necho $1 >>ran\n")
	w.must("bag", "--detach", "--on", s.name, "--array", "1-20", "--", "./task.sh", "{}")
	id := w.jobs()[0]
	for _, done := range []int{12, 16} {
		w.await(strconv.Itoa(done)+" tasks to be done", func() bool { return w.tasksDone() == done })
		w.must("cancel", string(id))
		if r := w.berth("wait", string(id)); r.code != 255 {
			t.Fatalf("the wait for a cancelled bag: %v", r)
		}
		w.write("may", fmt.Sprint(done+4))
		w.must("resume", string(id), "--detach")
		var p plan.Plan
		if err := statedir.ReadJSON(w.home().Run(id).Plan(), &p); err != nil {
			t.Fatal(err)
		}
		if p.Tasks != 20 || p.Left == nil || *p.Left != (plan.Left{Tasks: 20 - done}) {
			t.Errorf("%d of 20 tasks are done, the plan is of %d, of which %+v are left", done, p.Tasks, p.Left)
		}
	}
	w.must("wait", string(id))
	if got := strings.Fields(w.read("ran")); len(got) != 20 {
		t.Errorf("%d runs of tasks, want 20: %v", len(got), got)
	}
	checkOnce(t, w.records(id))
}

// tasksDone returns how many tasks of the only job are done.
func (w *world) tasksDone() int {
	var s struct {
		Jobs []struct {
			TasksDone int `json:"tasks_done"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(w.must("status", "--json").stdout), &s); err != nil {
		w.t.Fatal(err)
	}
	if len(s.Jobs) != 1 {
		w.t.Fatalf("%d jobs, want 1", len(s.Jobs))
	}
	return s.Jobs[0].TasksDone
}
