package sched_test

import (
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/test/support/schedtest"
)

// TestSchedulers checks what each scheduler starts on one node: first, and after each end of a phase.
func TestSchedulers(t *testing.T) {
	node := job.Vector{CPU: 4000, Memory: 8 << 30, Disk: 100e6, Net: 100e6}
	small := job.Vector{CPU: 2000, Memory: 8 << 30, Disk: 100e6, Net: 100e6}
	light := schedtest.Takes(100, 100, 0)
	named := func(name string) *sched.Scheduler {
		s, err := sched.SchedulerNamed("", name, sched.Schedulers())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	pair := []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(1000, 500, 0), light), schedtest.Maps("b", 9, schedtest.Takes(500, 500, 0), light)}
	schedtest.Check(t, []schedtest.Case{
		schedtest.Starts("prism gives the next start to the job with the highest deficit", sched.Prism, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(1000, 500, 0), light), schedtest.Maps("b", 9, schedtest.Takes(1000, 500, 0), light)},
			[]string{"a.map b.map a.map b.map", "a.map", "a.merge", "a.merge", "a.map"}),
		schedtest.Starts("prism counts what jobs hold of their dominant resource", sched.Prism, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(2000, 500, 0), light), schedtest.Maps("b", 9, schedtest.Takes(500, 500, 0), light)},
			[]string{"a.map b.map b.map b.map b.map"}),
		schedtest.Starts("prism starts no phase on a part of what it takes", sched.Prism, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 500, 60), light)}, []string{"a.map"}),
		schedtest.Starts("prism has what a phase gives back for others", sched.Prism, node, []schedtest.App{schedtest.Maps("a", 2, schedtest.Takes(3000, 500, 0), light)}, []string{"a.map", "a.map", "a.merge a.map"}),
		schedtest.Starts("phases: one that uses the disk beside one that computes", sched.Phases, small, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(1000, 500, 0), light), schedtest.Maps("b", 1, schedtest.Takes(200, 500, 90), light)},
			[]string{"b.map a.map a.map"}),
		schedtest.Starts("phases: no more that compute than there are cores", sched.Phases, small, []schedtest.App{schedtest.Maps("a", 3, schedtest.Takes(1000, 500, 0), light)}, []string{"a.map a.map", "a.map", "a.merge a.map"}),
		schedtest.Starts("phases: the least work left is first", sched.Phases, small, []schedtest.App{schedtest.Maps("a", 50, schedtest.Takes(1000, 500, 0), light), schedtest.Maps("b", 2, schedtest.Takes(1000, 500, 0), schedtest.Takes(1000, 500, 0))},
			[]string{"b.map b.map", "b.map", "a.map"}),
		schedtest.Starts("phases: what merges as it maps does not ask", sched.Phases, small, []schedtest.App{schedtest.Maps("a", 1, schedtest.Takes(1000, 500, 0), schedtest.Takes(900, 400, 0))}, []string{"a.map", "a.map", ""}),
		schedtest.Starts("phases: one that waits for memory has it before tasks that begin", sched.Phases, node,
			[]schedtest.App{schedtest.Maps("a", 1, schedtest.Takes(1000, 1000, 0), schedtest.Takes(1000, 7000, 0)), schedtest.Maps("b", 2, schedtest.Takes(1000, 3000, 0), schedtest.Takes(1000, 3000, 0)), schedtest.Maps("c", 3, schedtest.Takes(1000, 2000, 0), light)},
			[]string{"a.map b.map b.map", "a.map", "", "b.map", "", "b.map", "a.merge", "a.merge", "c.map c.map c.map"}),
		schedtest.Starts("phases: memory is never overcommitted", sched.Phases, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 3000, 0), schedtest.Takes(100, 3000, 0))}, []string{"a.map a.map"}),
		schedtest.Starts("phases: rates are, by a quarter", sched.Phases, small, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 100, 45), schedtest.Takes(100, 100, 45))}, []string{"a.map a.map a.map"}),
		schedtest.Starts("phases: no rate keeps a core idle", sched.Phases, node, []schedtest.App{schedtest.Maps("a", 9, schedtest.Takes(100, 100, 900), schedtest.Takes(100, 100, 900))}, []string{schedtest.Times(4, "a.map")}),
		schedtest.Starts("phases: nor does a reduce that shuffles", sched.Phases, small, []schedtest.App{schedtest.Reduces("a", 2, 100), schedtest.Maps("b", 9, schedtest.Takes(1000, 100, 900), schedtest.Takes(1000, 100, 900))},
			[]string{"b.map a.shuffle a.shuffle b.map"}),
		schedtest.Starts("prism without a weight of performance: what makes up most of a deficit", named("prism:alpha=0"), node, pair, []string{"a.map a.map b.map b.map b.map b.map"}),
		schedtest.Starts("prism with a high one: the job with the fewest tasks", named("prism:alpha=100"), node, pair, []string{"a.map b.map a.map b.map b.map b.map"}),
		schedtest.Starts("cores are whole and held to the end", sched.Cores, node, []schedtest.App{schedtest.Maps("a", 9, light, light)}, []string{schedtest.Times(4, "a.map"), "a.map", "a.map"}),
		schedtest.Starts("cores: a shuffle has none", sched.Cores, node, []schedtest.App{schedtest.Reduces("a", 9, 100), schedtest.Maps("b", 9, light, light)},
			[]string{schedtest.Times(4, "a.shuffle") + " " + schedtest.Times(4, "b.map"), "a.shuffle", "", "b.map", "a.sort a.shuffle"}),
	})
}

// TestEverySchedulerKeepsMemoryAndEnds checks the invariants of all schedulers.
func TestEverySchedulerKeepsMemoryAndEnds(t *testing.T) {
	for _, s := range sched.Schedulers() {
		t.Run(s.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { schedtest.KeepsMemoryAndEnds(t, s) })
		})
	}
}
