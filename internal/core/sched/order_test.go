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

// TestParseScheduler: each scheduler has its name, and the empty name means the default.
func TestParseScheduler(t *testing.T) {
	for _, s := range []Scheduler{Slots, Containers, Packing, Prism, Phases, Cores} {
		if got, err := ParseScheduler("here", string(s)); got != s || err != nil {
			t.Errorf("%s is %q, %v", s, got, err)
		}
	}
	if got, err := ParseScheduler("here", ""); got != DefaultScheduler || err != nil {
		t.Errorf("nothing said is %q, %v", got, err)
	}
	if got, err := ParseScheduler("here", "Slots"); job.ClassOf(err) != job.User || got != "" {
		t.Errorf("Slots is %q, %v", got, err)
	}
}
