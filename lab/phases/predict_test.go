package main

import "testing"

// A phase is simulated with the duration that it had alone, and with the bytes of the busier direction of its disk.
func TestDemandsOfAPhase(t *testing.T) {
	p := phase{Phase: "map", Total: 2, In: 8e6, CPU: 0.5, CPUs: 1, Disk: 10e6} // each task: 1 s with work, 4 MB read and 6 MB written
	var j simulatedJob
	j.add(&step{Phases: []phase{p}}, 1, 1.5)
	want := simulatedPhase{Phase: "map", CPU: 0.75, Disk: 6e6, Seconds: 1}
	if j.Maps != 2 || len(j.Phases) != 1 || j.Phases[0] != want {
		t.Errorf("%d maps with %+v, want %+v", j.Maps, j.Phases, want)
	}
}

// What a task reads from the page cache does not count: its disk wrote all that it moved.
func TestBusierDirection(t *testing.T) {
	p := phase{Total: 1, CPU: 1, CPUs: 2, Disk: 3e6}
	for in, want := range map[float64]float64{0: 6e6, 1e6: 5e6, 4e6: 4e6, 9e6: 6e6} {
		if got := p.busier(in); got != want {
			t.Errorf("with an input of %v bytes: %v, want %v", in, got, want)
		}
	}
}
