package test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/internal/control"
	"berth/internal/job"
)

// serverStatus returns what berth server status says, as JSON and in words.
func (w *world) serverStatus() (control.Server, string) {
	w.t.Helper()
	var s control.Server
	if err := json.Unmarshal([]byte(w.must("server", "status", "--json").stdout), &s); err != nil {
		w.t.Fatal(err)
	}
	return s, w.must("server", "status").stdout
}

// expectPolicy compares what the running coordinator goes by, and what is remembered, with
// that: order and whether allocations are kept; empty where nothing is remembered.
func (w *world) expectPolicy(when, order string, keep bool, chosen string) {
	w.t.Helper()
	s, text := w.serverStatus()
	if !s.Running || s.Order != order || s.Keep != keep {
		w.t.Errorf("%s: running %t, order %s, keep %t; want order %s, keep %t", when, s.Running, s.Order, s.Keep, order, keep)
	}
	if _, told, _ := strings.Cut(text, "chosen until berth server stop: "); strings.TrimSuffix(told, "\n") != chosen {
		w.t.Errorf("%s: %q is chosen, want %q", when, told, chosen)
	}
}

// TestChoiceOutlivesCoordinator kills the coordinator and lets a job's command start the
// next one: what --order and --keep said still goes, until the user stops it.
func TestChoiceOutlivesCoordinator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	next := func(env ...string) {
		t.Helper()
		w.killServer()
		w.batch = append([]string{"SLURM_CONF=/dev/null"}, env...)
		w.must("bag", "--", "true", ":::", "x")
	}
	w.must("server", "start", "--order", "shortest", "--keep")
	w.expectPolicy("at first", "shortest", true, "order shortest, allocations kept")
	next()
	w.expectPolicy("after a kill", "shortest", true, "order shortest, allocations kept")

	next("BERTH_ORDER=fifo")
	w.expectPolicy("by the environment", "fifo", true, "order shortest, allocations kept")
	next("BERTH_KEEP=0")
	w.expectPolicy("by the environment", "shortest", false, "order shortest, allocations kept")

	w.killServer()
	w.must("server", "start", "--keep=false")
	next("BERTH_KEEP=1", "BERTH_ORDER=fifo")
	w.killServer()
	w.must("server", "start", "--order", "auto")
	w.expectPolicy("by the flag", "auto", true, "order auto, allocations given back with their jobs")
	next()
	w.expectPolicy("after another kill", "auto", false, "order auto, allocations given back with their jobs")

	w.must("server", "stop")
	if s, text := w.serverStatus(); s.Running || strings.Contains(text, "chosen") {
		t.Errorf("it was stopped, but %s", text)
	}
	w.must("bag", "--", "true", ":::", "x")
	w.expectPolicy("after a stop", "auto", false, "")
}

// TestScheduler: flag and environment name the scheduler, and status says which one goes and which one is remembered.
func TestScheduler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expect := func(when, scheduler, chosen string) {
		t.Helper()
		if s, text := w.serverStatus(); s.Scheduler != scheduler || s.Chosen.Scheduler != chosen || !strings.Contains(text, ", scheduler "+scheduler+", ") {
			t.Errorf("%s: scheduler %s, %q is remembered; want %s, %q: %s", when, s.Scheduler, s.Chosen.Scheduler, scheduler, chosen, text)
		}
	}
	w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_SCHEDULER=slots"}
	w.must("bag", "--", "true", ":::", "x")
	expect("by the environment", "slots", "")
	w.must("server", "stop")
	w.must("server", "start", "--scheduler", "prism")
	w.killServer()
	w.batch = nil
	w.must("bag", "--", "true", ":::", "x")
	expect("after a kill", "prism", "prism")
}

// TestChoiceOfRunning: what a coordinator does already by its environment is remembered when
// a flag says so, and what it refuses to do is not.
func TestChoiceOfRunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_ORDER=fifo"}
	w.must("bag", "--", "true", ":::", "x")
	w.expectPolicy("by the environment", "fifo", false, "")
	w.must("server", "start", "--order", "fifo")
	if r := w.berth("server", "start", "--keep"); r.code != int(job.CodeConfig) {
		t.Errorf("another policy than that of the running one: %v", r)
	}
	w.batch = nil
	w.killServer()
	if s, text := w.serverStatus(); s.Running || s.Chosen.Order != "fifo" || !strings.Contains(text, "no coordinator is running\nchosen until berth server stop: order fifo\n") {
		t.Errorf("none runs: %+v, %s", s, text)
	}
	w.must("bag", "--", "true", ":::", "x")
	w.expectPolicy("after a kill", "fifo", false, "order fifo")

	w.killServer()
	w.must("server", "stop") // none runs, but there is something to forget
	w.must("bag", "--", "true", ":::", "x")
	w.expectPolicy("after a stop", "auto", false, "")
}
