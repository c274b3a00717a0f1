package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/test/support/slurmtest"
)

// saves is a program that writes its state when it gets the signal, and is done once it finds its state.
const saves = `#!/bin/sh
[ -e state ] && exec echo "done, $BERTH_ATTEMPT"
trap 'echo saved > state; exit 85' USR1
echo "$BERTH_DEADLINE" > started
while :; do sleep 0.2; done
`

// outcomes returns how the attempts of a job ended, in order.
func (w *world) outcomes(id job.ID) string {
	w.t.Helper()
	var all []string
	for _, e := range w.records(id) {
		if r, ok := e.Record.(event.AttemptEnded); ok {
			all = append(all, r.Outcome.String())
		}
	}
	return strings.Join(all, " ")
}

// TestRequeue runs a program that saves its state before its time limit and goes on in another attempt, which is neither a failure nor
// a retry.
func TestRequeue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("saves.sh", saves)
	w.must("bag", "--time-limit", "1h", "--signal", "USR1@3595", "--requeue-exit", "85", "--array", "1", "--joblog", "log", "--stdout", "out-{task}", "--", "./saves.sh")
	id := w.jobs()[0]
	if got := w.outcomes(id); got != "requeued done" {
		t.Errorf("attempts ended %s", got)
	}
	if got := w.read("out-1"); got != "done, 2\n" {
		t.Errorf("the task printed %q", got)
	}
	if got := w.must("report", string(id), "--json").stdout; !strings.Contains(got, `"retries":0`) || !strings.Contains(got, `"requeued":1`) {
		t.Errorf("the report does not say that an attempt asked for another one: %s", got)
	}
	if log := w.read("log"); strings.Count(log, "\t85\t") != 1 {
		t.Errorf("the job log is\n%s", log)
	}
}

// TestSlurmRequeue lets an administrator shorten the wall time of an allocation: the task gets its signal, and goes on in the next allocation.
func TestSlurmRequeue(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(1))
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	w.write("saves.sh", saves)
	r := w.start("bag", "--max-time", "3m", "--wall-time", "max", "--no-scout", "--signal", "USR1@60", "--requeue-exit", "85", "--array", "1", "--", "./saves.sh")
	w.await("the task to run in an allocation whose end is known", func() bool {
		b, _ := os.ReadFile(filepath.Join(w.dir, "started"))
		return strings.HasSuffix(string(b), "\n") && slices.ContainsFunc(w.serverRecords(), func(e event.Entry) bool {
			_, began := e.Record.(event.AllocBegan)
			return began
		})
	})
	if w.read("started") == "\n" {
		t.Error("the task is not told when its time ends")
	}
	running := strings.TrimSpace(c.Run(t, "squeue", "--noheader", "--states=RUNNING", "--format=%i"))
	c.Run(t, "scontrol", "update", "JobId="+running, "TimeLimit=1")
	if got := w.finish(r); got.code != 0 {
		t.Fatal(got)
	}
	id := w.jobs()[0]
	if got := w.outcomes(id); got != "requeued done" {
		t.Errorf("attempts ended %s", got)
	}
	nodes := make(map[job.AllocID]bool)
	for _, e := range w.records(id) {
		if r, ok := e.Record.(event.AttemptStarted); ok {
			nodes[r.Node.Alloc()] = true
		}
	}
	if len(nodes) != 2 {
		t.Errorf("its attempts ran in the allocations %v", nodes)
	}
}
