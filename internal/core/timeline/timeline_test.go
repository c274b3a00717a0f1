package timeline

import (
	"slices"
	"testing"

	"berth/internal/core/job"
)

// TestPaperSlots is Fig. 2 of the paper "mr-job-adaptor": six jobs in the queue of 100 nodes leave
// four free slots. The paper gives the slots and not the jobs.
func TestPaperSlots(t *testing.T) {
	const all = 100
	line := New(10, all)
	for _, job := range []struct {
		from, to job.Time
		nodes    int
	}{
		{10, 12, 75},  // A
		{12, 13, 100}, // B
		{13, 15, 50},  // C
		{15, 16, 100}, // D
		{16, 17, 50},  // E
		{16, 17, 25},  // F
	} {
		line.Add(job.from, job.to, -job.nodes)
	}
	want := []Slot{{10, 25, 2}, {13, 50, 2}, {16, 25, Unbounded}, {17, all, Unbounded}}
	if got := line.Slots(); !slices.Equal(got, want) {
		t.Errorf("slots are %v, want %v", got, want)
	}
}

func TestSlotEnd(t *testing.T) {
	for _, c := range []struct {
		slot Slot
		want job.Time
	}{
		{Slot{Start: 10, Duration: 2}, 12},
		{Slot{Start: 10, Duration: Unbounded}, Never},
		{Slot{Start: -10, Duration: Unbounded}, Never},
		{Slot{Start: Never - 1, Duration: 5}, Never},
	} {
		if got := c.slot.End(); got != c.want {
			t.Errorf("%v ends at %d, want %d", c.slot, got, c.want)
		}
	}
}

// TestCap: a timeline is nowhere above the one that caps it, and as it was where it is below.
func TestCap(t *testing.T) {
	line, by := New(10, 4), New(20, 3)
	line.Add(30, 40, -3)
	line.Add(60, Never, 4)
	by.Add(35, 50, 9)
	by.Add(70, Never, -3)
	line.Cap(by)
	want := []Step{{10, 3}, {30, 1}, {40, 4}, {50, 3}, {70, 0}}
	if got := line.Steps(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
