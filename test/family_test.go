package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scatter starts programs in every way that hides them from their parent's process group: a program of GNU timeout, a session of its own,
// one without the task's environment, and one that nobody waits for. Each writes its line and then sleeps for so many seconds.
const scatter = `timeout 6000 sh -c 'echo 1 >>begun; exec sleep SECONDS >/dev/null 2>&1' &
setsid sh -c 'echo 2 >>begun; exec sleep SECONDS >/dev/null 2>&1' &
(setsid env -i sh -c 'echo 3 >>begun; exec sleep SECONDS >/dev/null 2>&1' &)
`

// sleepers counts the processes that sleep for so many seconds.
func sleepers(seconds string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.HasSuffix(b, []byte("sleep\x00"+seconds+"\x00")) {
			n++
		}
	}
	return n
}

// TestTaskIsAllItsProcesses: once a task is reported as over, nothing of it is left, in whatever group, session and environment it is:
// when the task ran for too long, used too much memory together, was cancelled, or ended and left what only sleeps.
func TestTaskIsAllItsProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ seconds, flags, end, says string }{
		{"7731.25", "--time-limit 2s", "wait", "time limit"},
		{"7732.25", "--mem 60M --time-limit 10m", "until [ $(wc -l <begun) = 3 ]; do :; done\nfor i in 1 2 3; do (head -c 30000000 /dev/zero; exec sleep 7732.25) | timeout 6000 tail -c 30000000 & done; wait", "of memory"},
		{"7733.25", "", "until [ $(wc -l <begun) = 3 ]; do :; done", ""},
	} {
		w.write("begun", "")
		w.write("task.sh", strings.ReplaceAll(scatter, "SECONDS", c.seconds)+c.end+"\n")
		r := w.berth(append(append([]string{"bag"}, strings.Fields(c.flags)...), "--", "sh", "task.sh", ":::", "x")...)
		if failed := c.says != ""; failed != (r.code != 0) || !strings.Contains(r.stdout+r.stderr, c.says) {
			t.Errorf("%s: %v", c.flags, r)
		}
		if n := sleepers(c.seconds); n != 0 {
			t.Errorf("%s: %d processes of the task live on", c.flags, n)
		}
	}
	w.write("begun", "")
	w.write("task.sh", strings.ReplaceAll(scatter, "SECONDS", "7734.25")+"wait\n")
	id := strings.TrimSpace(w.must("bag", "--detach", "--", "sh", "task.sh", ":::", "x").stdout)
	w.await("the task's processes", func() bool { return sleepers("7734.25") == 3 })
	w.must("cancel", id)
	w.berth("wait", id)
	if n := sleepers("7734.25"); n != 0 {
		t.Errorf("%d processes of a cancelled task live on", n)
	}
}
