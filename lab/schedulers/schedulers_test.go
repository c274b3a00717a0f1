package schedulers

import (
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/test/support/schedtest"
)

// TestSchedulers checks what each scheduler starts on one node: first, and after each end of a phase.
func TestSchedulers(t *testing.T) {
	node := job.Vector{CPU: 4000, Memory: 8 << 30, Disk: 100e6, Net: 100e6}
	light := schedtest.Takes(100, 100, 0)
	schedtest.Check(t, []schedtest.Case{
		schedtest.Starts("slots are counted, whatever maps take", Slots, node, []schedtest.App{schedtest.Maps("a", 20, schedtest.Takes(4000, 100, 90), light)}, []string{schedtest.Times(8, "a.map")}),
		schedtest.Starts("slots for reduces are others", Slots, node, []schedtest.App{schedtest.Reduces("a", 20, 100), schedtest.Maps("b", 20, light, light)},
			[]string{"a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map b.map b.map"}),
		schedtest.Starts("slots do not count memory twice", Slots, node, []schedtest.App{schedtest.Maps("a", 20, schedtest.Takes(100, 3000, 0), light)}, []string{"a.map a.map"}),
		schedtest.Starts("slots go to the job with the fewest tasks", Slots, node, []schedtest.App{schedtest.Maps("a", 2, light, light), schedtest.Maps("b", 9, light, light)},
			[]string{"a.map b.map a.map " + schedtest.Times(5, "b.map"), "a.map", "b.map"}),
		schedtest.Starts("containers have whole cores: 1.6 are 2", Containers, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(1600, 100, 0), light)}, []string{"a.map a.map"}),
		schedtest.Starts("containers have whole cores: 0.1 is 1", Containers, node, []schedtest.App{schedtest.Maps("a", 9, light, light)}, []string{schedtest.Times(4, "a.map")}),
		schedtest.Starts("containers are multiples of 512 MiB", Containers, job.Vector{CPU: 4000, Memory: 3 << 30}, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 600, 0), light)}, []string{schedtest.Times(3, "a.map")}),
		schedtest.Starts("containers are as large as the largest phase", Containers, node, []schedtest.App{schedtest.Maps("a", 9, light, schedtest.Takes(2000, 100, 0))}, []string{"a.map a.map"}),
		schedtest.Starts("containers go to the job that came first", Containers, node, []schedtest.App{schedtest.Maps("a", 5, light, light), schedtest.Maps("b", 1, light, light)}, []string{schedtest.Times(4, "a.map"), "a.map", "a.map", "a.map", "b.map"}),
		schedtest.Starts("packing takes what aligns best of the half of the groups", Packing, node,
			[]schedtest.App{schedtest.Maps("a", 1, schedtest.Takes(500, 500, 0), schedtest.Takes(500, 500, 0)), schedtest.Maps("b", 1, schedtest.Takes(2000, 500, 0), schedtest.Takes(2000, 500, 0)),
				schedtest.Maps("c", 1, schedtest.Takes(1500, 500, 0), schedtest.Takes(1500, 500, 0)), schedtest.Maps("d", 1, schedtest.Takes(900, 500, 50), schedtest.Takes(900, 500, 50))},
			[]string{"b.map a.map c.map", "b.map", "d.map"}),
		schedtest.Starts("packing counts the mean of cores over the phases", Packing, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(1900, 500, 0), schedtest.Takes(100, 500, 0))}, []string{schedtest.Times(4, "a.map")}),
		schedtest.Starts("packing fills the disk no further than it is", Packing, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 500, 40), schedtest.Takes(100, 500, 40))}, []string{"a.map a.map"}),
	})
}

// TestEverySchedulerKeepsMemoryAndEnds checks the invariants of all schedulers.
func TestEverySchedulerKeepsMemoryAndEnds(t *testing.T) {
	for _, s := range Others() {
		t.Run(s.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { schedtest.KeepsMemoryAndEnds(t, s) })
		})
	}
}
