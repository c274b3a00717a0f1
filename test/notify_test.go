package test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"berth/internal/server/report"
)

// TestNotify: the command of --notify is run once when its job is over, however it ends, also after a resume and if another coordinator
// has taken the job on. It has the job's folder and variables, and the job's summary as its standard input.
func TestNotify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in", "a\n")
	told := func(n int) (v report.JobView) {
		t.Helper()
		var lines []string
		w.await("the command of --notify", func() bool {
			if w.exists("told") {
				lines = strings.Split(w.read("told"), "\n") // the last one is not whole, or empty
				lines = lines[:len(lines)-1]
			}
			return len(lines) >= n
		})
		if len(lines) > n {
			t.Errorf("the command was run too often: %q", lines)
		} else if err := json.Unmarshal([]byte(lines[n-1]), &v); err != nil {
			t.Errorf("%q: %v", lines[n-1], err)
		}
		return v
	}
	const tell = `(tr -d '\n'; echo) >>"${PWD}/told"`
	w.berth("bag", "--notify", tell, "--", "[ -e fixed ] || exit 3; : {}", ":::", "a", "b")
	if v := told(1); v.ID != "bag-1" || v.State != "failed" || v.TasksFailed != 2 {
		t.Errorf("a bag that failed: %+v", v)
	}
	w.write("fixed", "")
	w.must("resume", "bag-1", "--failed")
	if v := told(2); v.ID != "bag-1" || v.State != "done" {
		t.Errorf("the same bag, resumed: %+v", v)
	}
	w.must("mapreduce", "-input", "in", "-output", "out", "-mapper", "cat", "--notify", tell)
	if v := told(3); v.ID != "mr-2" || v.State != "done" {
		t.Errorf("a MapReduce job: %+v", v)
	}
	w.must("bag", "--detach", "--notify", tell, "--", "until [ -e go ]; do sleep 0.1; done; : {}", ":::", "a")
	for _, pid := range w.berths(coordinatorRole) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	w.write("go", "")
	w.must("wait", "bag-3")
	if v := told(4); v.ID != "bag-3" || v.State != "done" {
		t.Errorf("a bag whose coordinator was killed: %+v", v)
	}
	w.must("bag", "--open", "--notify", tell, "--", "true")
	w.must("cancel", "bag-4")
	if v := told(5); v.ID != "bag-4" || v.State != "cancelled" {
		t.Errorf("a bag that was cancelled: %+v", v)
	}
}

// TestNotifyFails: a command of --notify that fails is told by the report, and the job is as it was.
func TestNotifyFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--notify", "echo no mail here >&2; exit 3", "--", "true", ":::", "a")
	w.await("the report to tell of the failure", func() bool {
		return strings.Contains(w.must("report", "--json").stdout, "the command of --notify failed: exit status 3: no mail here")
	})
	if r := w.berth("wait"); r.code != 0 {
		t.Errorf("the job: %v", r)
	}
}
