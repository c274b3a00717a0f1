package plant

import (
	"os"
	"testing"
	"time"
)

// TestLearned checks that the counts of one session of a program select the functions of later
// sessions, in this process and in others.
func TestLearned(t *testing.T) {
	program := compile(t, "counts", "-O1")
	argv := []string{program, "1", "0", "5000"}
	dir := t.TempDir()
	first := &Planter{Dir: dir}
	s, _ := planted(t, first, Options{}, os.Environ(), argv...)
	if n, ok := s.Hits(); ok || hits(s, program)["leaf"] != 10000 {
		t.Errorf("first: %d hits of %v can be compared: %v", n, hits(s, program), ok)
	}
	s.Close()
	for name, p := range map[string]*Planter{"same": first, "other": {Dir: dir}} {
		s, _ := planted(t, p, Options{}, os.Environ(), argv...)
		counted := hits(s, program)
		if n, ok := s.Hits(); !ok || n == 0 || n > 5000 || counted["main"] != 1 || counted["leaf"] != 0 || counted["twice"] != 0 {
			t.Errorf("%s: %d hits, %v: %v", name, n, ok, counted)
		}
		if s.Left()[notChosen] == 0 {
			t.Errorf("%s: nothing is left out: %v", name, s.Left())
		}
		s.Close()
	}
	forgotten := &Planter{Dir: t.TempDir()}
	s, _ = planted(t, forgotten, Options{}, os.Environ(), argv...)
	if counted := hits(s, program); counted["leaf"] != 10000 {
		t.Errorf("where nothing is kept: %v", counted)
	}
}

// TestLoop checks that for a program in a loop of a few functions those with the fewest hits are
// kept.
func TestLoop(t *testing.T) {
	s := &statistics{Objects: map[string]*objectHits{"a": {
		Hits: map[uint64]uint64{1: 1, 2: 3, 3: 0, 4: 1000, 5: 2000, 6: 90000, 7: 900},
		Late: map[uint64]uint64{4: 60, 5: 50, 6: 4000},
	}}}
	sel := s.choose(0.01)
	for entry, skipped := range map[uint64]bool{1: false, 2: false, 3: false, 4: false, 5: false, 6: true, 7: true} {
		if sel[functionID{"a", entry}] != skipped {
			t.Errorf("function %d is skipped: %v", entry, !skipped)
		}
	}
}

// TestLauncherAlone checks that the hits of a shell do not count if the program that it executed was
// not planted or is unknown.
func TestLauncherAlone(t *testing.T) {
	program := compile(t, "counts", "-O1")
	p := &Planter{Dir: t.TempDir()}
	for _, tt := range []struct {
		script string
		counts bool
	}{
		{"true", false}, // the shell has no statistics yet
		{"true", true},
		{"true; exec " + program, false},
		{"true; exec " + program, true},
		{"true; ulimit -v 1000000; exec " + program, false},
	} {
		s, _ := planted(t, p, Options{}, nil, "/bin/sh", "-c", tt.script)
		if n, ok := s.Hits(); ok != tt.counts {
			t.Errorf("%s: %d hits count: %v; %q", tt.script, n, ok, s.Why())
		}
		s.Close()
	}
}

// TestCopied checks that a file for which the system reports other numbers than for its mapping is
// planted if its code is the same.
func TestCopied(t *testing.T) {
	program := compile(t, "counts", "-O1")
	p := &Planter{}
	o, err := (&Planter{}).open(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.file = fileID{}
	s, _ := planted(t, p, exact, nil, program)
	if hits(s, program)["main"] != 1 {
		t.Errorf("left out: %v", s.ObjectsLeft())
	}
}

// TestOften checks that a task that starts many short programs does not spend its time on planting.
func TestOften(t *testing.T) {
	program := compile(t, "counts", "-O1")
	was := allowed
	defer func() { allowed = was }()
	allowed = -time.Hour
	s, got := planted(t, fresh(t), Options{}, nil, "/bin/sh", "-c", program+"; "+program)
	if programs, _ := s.Planted(); programs != 0 || s.Why() != errOften.Error() || got.status.ExitStatus() != 7 {
		t.Errorf("%d were planted: %q, %+v", programs, s.Why(), got)
	}
	s, _ = planted(t, fresh(t), exact, nil, "/bin/sh", "-c", program+"; "+program)
	if programs, _ := s.Planted(); programs != 3 {
		t.Errorf("%d were planted for exact counts: %q", programs, s.Why())
	}
}

// TestBusyNode checks that a program that was stopped for long because its node is busy leaves the
// programs after it countable: what limits planting is its processor time.
func TestBusyNode(t *testing.T) {
	s := &Session{began: time.Now()}
	s.took(time.Hour, allowed/2)
	if s.overspent() {
		t.Error("planting took half of what is allowed, and no program is planted any more")
	}
	s.took(0, time.Hour)
	if !s.overspent() {
		t.Error("planting took an hour, and goes on")
	}
}
