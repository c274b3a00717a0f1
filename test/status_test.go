package test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// listed returns the numbers of the jobs that berth status lists, and how many further jobs it mentions.
func (w *world) listed(args ...string) (numbers []int, more int) {
	w.t.Helper()
	var list report.StatusList
	if err := json.Unmarshal([]byte(w.must(append([]string{"status", "--json"}, args...)...).stdout), &list); err != nil {
		w.t.Fatal(err)
	}
	for _, j := range list.Jobs {
		var n int
		if _, err := fmt.Sscanf(string(j.ID), "bag-%d", &n); err != nil {
			w.t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers, list.More
}

// TestStatusSelects checks that status lists the unfinished jobs and the last ended ones, says how many
// further ones there are, and lists others on request, with and without a coordinator.
func TestStatusSelects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if ids, more := w.listed(); len(ids)+more != 0 {
		t.Errorf("without jobs: %v and %d", ids, more)
	}
	w.write("task.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n")
	w.must("bag", "--detach", "--", "./task.sh", ":::", "x")
	for range 13 { // bag-2 to bag-14
		if r := w.berth("bag", "--", "false", ":::", "x"); r.code != 1 {
			t.Fatal(r)
		}
	}
	check := func(when string, want []int, more int, args ...string) {
		t.Helper()
		if got, m := w.listed(args...); !slices.Equal(got, want) || m != more {
			t.Errorf("%s: status %v lists %v and %d more; want %v and %d", when, args, got, m, want, more)
		}
	}
	all := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	for _, when := range []string{"with a coordinator", "without one"} {
		check(when, append([]int{1}, all[4:]...), 3)
		check(when, all, 0, "--all")
		check(when, []int{1}, 13, "--limit", "0")
		check(when, []int{1, 14}, 12, "--limit", "1")
		check(when, all, 0, "--since", "2d")
		check(when, []int{1}, 0, "--since", "2999-01-01")
		check(when, []int{1, 13, 14}, 11, "--since", "2000-01-01 00:00", "--limit", "2")
		check(when, nil, 0, "--state", "done,cancelled", "--all")
		check(when, all[4:], 3, "--state", "failed,done")
		check(when, all[1:], 0, "--state", "failed", "--all")
		if r := w.must("status"); !strings.Contains(r.stdout, "\n3 more jobs ended earlier: show them with berth status --all") {
			t.Errorf("%s: %v", when, r)
		}
		w.killServer()
	}
	for _, args := range [][]string{{"--state", "finished"}, {"--limit", "-1"}, {"--since", "yesterday"}} {
		if r := w.berth(append([]string{"status"}, args...)...); r.code != int(job.CodeArguments) {
			t.Errorf("status %v: %v", args, r)
		}
	}
	w.write("go", "")
}

// TestStatusOfTasks: status prints a word for each task that is named, by number or by name, and refuses others.
func TestStatusOfTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tasks", `{"name":"good","command":"true"}
{"name":"bad","command":"false"}
{"name":"late","command":"true","after":["good"]}
`)
	w.berth("bag", "--tasks", "tasks")
	if got := w.must("status", "last", "late", "bad").stdout; got != "done\nfailed\n" {
		t.Errorf("printed %q", got)
	}
	w.must("bag", "--detach", "--", "sleep", ":::", "600")
	w.must("cancel", "last")
	if got := w.must("status", "last", "1").stdout; got != "cancelled\n" {
		t.Errorf("printed %q", got)
	}
	if r := w.berth("cancel", "last", "--task", "1"); r.code == 0 || !strings.Contains(r.stderr, "is over") {
		t.Error(r)
	}
	w.berth("bag", "-c", "1", "--", "true", ":::", "a", "b")
	if got := w.must("status", "last", "2").stdout; got != "done\n" {
		t.Errorf("printed %q", got)
	}
	if r := w.berth("status", "last", "3"); r.code == 0 || !strings.Contains(r.stderr, "it has no task 3") {
		t.Error(r)
	}
	var s report.JobStatus
	if err := json.Unmarshal([]byte(w.must("status", "last", "2", "--json").stdout), &s); err != nil || len(s.Tasks) != 1 || s.Tasks[0].Name != "2" {
		t.Fatalf("%v, %v", s.Tasks, err)
	}
	host, err := os.Hostname()
	if tries := s.Tasks[0].Tries; err != nil || len(tries) != 1 || tries[0].Host != host {
		t.Errorf("the attempts are %+v, and the host is %s, %v", tries, host, err)
	}
}
