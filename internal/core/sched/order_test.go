package sched

import (
	"testing"

	"berth/internal/core/job"
)

// TestOrderOn: only Auto and the empty order depend on the backend.
func TestOrderOn(t *testing.T) {
	for name, want := range map[string][2]Order{
		"":         {FIFO, Shortest},
		"auto":     {FIFO, Shortest},
		"fifo":     {FIFO, FIFO},
		"shortest": {Shortest, Shortest},
	} {
		o, err := ParseOrder("here", name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]Order{o.On(false), o.On(true)}; got != want || Order(name).On(true) != want[1] || Order(name).On(false) != want[0] {
			t.Errorf("%q is %v here and on a batch system, want %v", name, got, want)
		}
	}
	for _, name := range []string{"longest", "Fifo"} {
		if o, err := ParseOrder("here", name); job.ClassOf(err) != job.User || o != "" {
			t.Errorf("%s is %q, %v", name, o, err)
		}
	}
}

// TestSchedulerNamed: each scheduler has its name, and the empty name means the first.
func TestSchedulerNamed(t *testing.T) {
	for _, s := range Schedulers() {
		if got, err := SchedulerNamed("here", s.Name, Schedulers()); got != s || err != nil {
			t.Errorf("%s is %v, %v", s, got, err)
		}
	}
	if got, err := SchedulerNamed("here", "", Schedulers()); got != Phases || err != nil {
		t.Errorf("nothing said is %v, %v", got, err)
	}
	for name, alpha := range map[string]float64{"phases:alpha=0": 0, "phases:alpha=2.5": 2.5, "prism:alpha=4": 4} {
		got, err := SchedulerNamed("here", name, Schedulers())
		if err != nil || got.Name != name || got.Alpha != alpha || Phases.Alpha != 1 || Prism.Alpha != 1 {
			t.Errorf("%s is %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"phases:alpha=", "phases:alpha=-1", "phases:alpha=NaN", "phases:alpha=1001", "cores:alpha=1", "none:alpha=1", ":alpha=1", "phases:2"} {
		if got, err := SchedulerNamed("here", name, Schedulers()); job.ClassOf(err) != job.User || got != nil {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if got, err := SchedulerNamed("here", "Cores", Schedulers()); job.ClassOf(err) != job.User || got != nil {
		t.Errorf("Cores is %v, %v", got, err)
	}
}
