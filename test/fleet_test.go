package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/test/support/fleet"
)

// sixTasks starts a bag of six tasks on m1 and m2, and returns when each runs one. A task ends when its machine has a file "go" in its home folder.
func (w *world) sixTasks() job.ID {
	w.t.Helper()
	w.must("bag", "--detach", "--hosts", "1/m1,1/m2", "--array", "1-6", "--stdout", "out/{task}", "--", "sh", "-c", "echo {}; while [ ! -e ~/go ]; do sleep 0.2; done")
	id := w.jobs()[0]
	w.await("both machines to run a task", func() bool { return w.attempts(id) == 2 })
	return id
}

// attempts returns how many attempts of a job began.
func (w *world) attempts(id job.ID) (n int) {
	for _, e := range w.tryRecords(id) {
		if _, is := e.Record.(event.AttemptStarted); is {
			n++
		}
	}
	return n
}

// letGo ends the tasks of sixTasks on a machine.
func (w *world) letGo(h *fleet.Host) {
	w.t.Helper()
	w.ok(os.WriteFile(filepath.Join(h.Home(), "go"), nil, 0o600))
}

// sixDone waits for the end of the job of sixTasks. All its output must be there, after the given number of attempts.
func (w *world) sixDone(id job.ID, attempts int) {
	w.t.Helper()
	w.must("wait", string(id))
	for i := range 6 {
		if got := w.read(fmt.Sprintf("out/%d", i+1)); got != fmt.Sprintln(i+1) {
			w.t.Errorf("task %d wrote %q", i+1, got)
		}
	}
	if got := w.attempts(id); got != attempts {
		w.t.Errorf("%d attempts of 6 tasks began, want %d", got, attempts)
	}
}

// TestFleetCut checks that a machine that is unreachable for a while loses nothing.
func TestFleetCut(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	id := w.sixTasks()
	w.ok(f.Host("m2").Cut())
	w.await("the coordinator to miss the machine", w.missed)
	w.ok(f.Host("m2").Mend())
	w.letGo(f.Host("m1"))
	w.letGo(f.Host("m2"))
	w.sixDone(id, 6)
}

// TestFaultFleetOneWay checks that a machine loses no task to which packets arrive while what it sends does not, and the other way round. A
// connection then looks alive on one side. It is for make soak, as it waits for two leases.
func TestFaultFleetOneWay(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skip("networks that drop one direction are waited for by make soak")
	}
	fleet.NeedsLoss(t)
	for name, lose := range map[string][2]int{"from": {100, 0}, "to": {0, 100}} {
		t.Run(name, func(t *testing.T) {
			w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
			id := w.sixTasks()
			w.ok(f.Host("m2").Lose(lose[0], lose[1]))
			w.await("the coordinator to miss the machine", w.missed)
			w.ok(f.Host("m2").Lose(0, 0))
			w.letGo(f.Host("m1"))
			w.letGo(f.Host("m2"))
			w.sixDone(id, 6)
		})
	}
}

// missed reports whether a node did not answer.
func (w *world) missed() bool {
	for _, e := range w.serverRecords() {
		if _, is := e.Record.(event.NodeLost); is {
			return true
		}
	}
	return false
}

// TestFleetVanish checks that the tasks of a machine that disappears run again elsewhere, and only these.
func TestFleetVanish(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	id := w.sixTasks()
	w.ok(f.Host("m2").Remove())
	w.letGo(f.Host("m1"))
	w.sixDone(id, 7)
}

// TestFleetFullDisk checks that a machine without disk space for berth is not used.
func TestFleetFullDisk(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Machine{Name: "m1"}, fleet.Machine{Name: "m2", Disk: 1 << 20})
	r := w.start("bag", "--hosts", "1/m1,1/m2", "--array", "1-6", "--stdout", "out/{task}", "--", "sh", "-c", "hostname; while [ ! -e ~/go ]; do sleep 0.2; done")
	w.await("the machine to be tried", func() bool {
		logs, _ := filepath.Glob(filepath.Join(w.home().Server(), "ssh", "*", "*.log"))
		return slices.ContainsFunc(logs, func(l string) bool { b, _ := os.ReadFile(l); return strings.Contains(string(b), "No space left") })
	})
	w.letGo(f.Host("m1"))
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	for i := range 6 {
		if got := w.read(fmt.Sprintf("out/%d", i+1)); got != "m1\n" {
			t.Errorf("task %d ran on %s", i+1, got)
		}
	}
}

// TestFaultFleetMinute disconnects a machine for a whole minute. Afterwards the machine runs tasks again, and the output is right. It is for make soak, as a minute is long.
func TestFaultFleetMinute(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skip("a minute without network is waited for by make soak")
	}
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	id := w.sixTasks()
	w.ok(f.Host("m2").Cut())
	time.Sleep(time.Minute) // the time without a network
	w.ok(f.Host("m2").Mend())
	w.await("the machine to run a task again", func() bool { return w.attempts(id) == 3 })
	w.letGo(f.Host("m1"))
	w.letGo(f.Host("m2"))
	w.sixDone(id, 7)
}
