package test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/control"
)

// serverStatus returns the output of berth server status, as JSON and as text.
func (w *world) serverStatus() (control.Server, string) {
	w.t.Helper()
	var s control.Server
	if err := json.Unmarshal([]byte(w.must("server", "status", "--json").stdout), &s); err != nil {
		w.t.Fatal(err)
	}
	return s, w.must("server", "status").stdout
}

// expectPolicy compares the running coordinator's settings and the remembered settings with
// order and keep; they are empty if nothing is remembered.
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
// next one. The settings of --order and --keep stay until the user stops the coordinator.
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

// TestScheduler checks that flag and environment set the scheduler, and that status shows the present and the remembered one.
func TestScheduler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expect := func(when, scheduler, chosen string) {
		t.Helper()
		if s, text := w.serverStatus(); s.Scheduler != scheduler || s.Chosen.Scheduler != chosen || !strings.Contains(text, ", scheduler "+scheduler+", ") {
			t.Errorf("%s: scheduler %s, %q is remembered; want %s, %q: %s", when, s.Scheduler, s.Chosen.Scheduler, scheduler, chosen, text)
		}
	}
	w.batch = []string{"SLURM_CONF=/dev/null", "BERTH_SCHEDULER=prism"}
	w.must("bag", "--", "true", ":::", "x")
	expect("by the environment", "prism", "")
	w.must("server", "stop")
	w.must("server", "start", "--scheduler", "prism:alpha=0.5")
	w.killServer()
	w.batch = nil
	w.must("bag", "--", "true", ":::", "x")
	expect("after a kill", "prism:alpha=0.5", "prism:alpha=0.5")
}

// TestChoiceOfRunning checks that a setting that the coordinator has from its environment is remembered when a
// flag repeats it, and that a setting that the coordinator refuses is not remembered.
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
	w.must("server", "stop") // no coordinator runs, but settings are remembered
	w.must("bag", "--", "true", ":::", "x")
	w.expectPolicy("after a stop", "auto", false, "")
}
