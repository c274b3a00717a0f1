package test

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// TestSchedulersGiveTheSameOutput runs jobs beside each other with each scheduler. The output is the same, byte for byte, whatever
// grants and memory attempts get, and in whatever order.
func TestSchedulersGiveTheSameOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var lines strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&lines, "%05d x\n", i*7919%20_011)
	}
	w.write("in.txt", lines.String())
	var want string
	for _, s := range []sched.Scheduler{sched.Cores, sched.Slots, sched.Containers, sched.Packing, sched.Prism, sched.Phases} {
		w.must("server", "start", "--scheduler", string(s))
		bag := w.start("bag", "--array", "1-40", "--stdout", string(s)+".bag/{task}", "--", "echo", "{}")
		mapreduce := func(n int) *running {
			return w.start("mapreduce", "--sort-memory", "1M", "-input", "in.txt", "-output", fmt.Sprint(s, n), "-mapper", "cat", "-combiner", "uniq",
				"-reducer", "uniq", "-numReduceTasks", "3", "-D", "mapreduce.input.fileinputformat.split.maxsize=100000")
		}
		jobs := []*running{bag, mapreduce(1), mapreduce(2)} // each map spills several times in so little memory
		for _, j := range jobs {
			if r := w.finish(j); r.code != 0 {
				t.Fatalf("%s: %v", s, r)
			}
		}
		got := w.output(fmt.Sprint(s, 1)) + w.output(fmt.Sprint(s, 2))
		for i := range 40 {
			got += w.read(fmt.Sprintf("%s.bag/%d", s, i+1))
		}
		if want == "" {
			want = got
		}
		if got != want || strings.Count(got, "\n") != 2*20_011+40 {
			t.Errorf("%s: %d bytes of output in %d lines, want %d", s, len(got), strings.Count(got, "\n"), len(want))
		}
		w.must("server", "stop")
	}
	asked := make(map[job.Phase]int)
	for _, id := range w.jobs() {
		for _, e := range w.records(id) {
			if r, is := e.Record.(event.PhaseGranted); is {
				asked[r.Phase]++
			}
		}
	}
	t.Logf("leave was asked for and given, by the last phase: %v", asked)
	for _, p := range []job.Phase{job.PhaseMerge, job.PhaseSort} {
		if asked[p] == 0 {
			t.Errorf("no attempt had to ask leave for %v", p)
		}
	}
}
