package command

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"berth/internal/command/cli"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// TestMoreMemory checks that the command that is advised for a task that ran out of memory gives it more, and no other task less. Where no resume does, none is advised as one that does.
func TestMoreMemory(t *testing.T) {
	size := rapid.Custom(func(t *rapid.T) int64 { return rapid.SampledFrom([]int64{0, 1, 3, 50, 1024}).Draw(t, "size") << 27 })
	rapid.Check(t, func(t *rapid.T) {
		s, task, cat := job.New(job.Bag, "/d"), 0, job.Program{Args: []string{"cat"}}
		if rapid.Bool().Draw(t, "MapReduce") {
			s = job.New(job.MapReduce, "/d")
			s.MapReduce.Inputs, s.MapReduce.Output, s.MapReduce.Mapper, s.MapReduce.Reducer = []string{"/d/in"}, "/d/out", cat, &cat
			s.MapReduce.MapNeed.Mem, s.MapReduce.ReduceNeed.Mem = size.Draw(t, "of a map"), size.Draw(t, "of a reduce")
			s.MapReduce.Reduces, task = 1, rapid.IntRange(0, 1).Draw(t, "task")
		} else {
			s.Bag.Command, s.Bag.Need.Mem = []string{"x"}, size.Draw(t, "of a task")
		}
		s.Normalize()
		w := job.Work{ID: "j-1", Kind: s.Kind, Tasks: 1, Reduces: task, Terms: s.Terms()}
		w.Attempts, w.ReduceAttempts = 1, 1
		own := s.Kind == job.Bag && rapid.Bool().Draw(t, "own")
		if own {
			w.Further, w.Which = []job.Needs{{Mem: 1 << 30}}, []job.NeedsRun{{Tasks: 1, Index: 1}}
		}
		had := w.NeedsAt(task).Mem
		peak := had + rapid.Int64Range(1<<20, 1<<34).Draw(t, "above")
		j := report.New(report.Info{ID: w.ID})
		at := job.Attempt{Job: w.ID, Task: task, N: 1}
		started := event.AttemptStarted{Attempt: at, Node: "a1/0"}
		if s.Kind == job.Bag {
			started.Mem = max(had, w.NeedsAt(len(w.Further)).Mem)
		}
		for i, r := range []event.Record{event.JobSubmitted{Work: w}, started,
			event.AttemptEnded{Attempt: at, Outcome: event.Failed, Lack: event.LackMemory, Stats: []job.PhaseStat{{Phase: job.PhaseCompute, PeakMemory: peak}}},
			event.JobEnded{Job: w.ID, State: event.StateFailed}} {
			j.Apply(event.Entry{Seq: uint64(i + 1), At: job.Time(i + 1), Record: r})
		}
		v := j.View(9)
		if own {
			if v.Fix != "" || !strings.Contains(v.NoFix, "submit them again") {
				t.Fatalf("advised: %q, %q", v.Fix, v.NoFix)
			}
			return
		}
		words := strings.Fields(v.Fix)
		if len(words) < 4 || strings.Join(words[:3], " ") != "berth resume j-1" {
			t.Fatalf("advised: %q, %q", v.Fix, v.NoFix)
		}
		flags, o := pflag.NewFlagSet("resume", pflag.ContinueOnError), cli.ResumeOptions{}
		flags.Bool("failed", false, "")
		o.Register(flags)
		if err := flags.Parse(words[3:]); err != nil {
			t.Fatalf("%s: %v", v.Fix, err)
		}
		if err := o.Change(s, "/d"); err != nil {
			t.Fatalf("%s: %v", v.Fix, err)
		}
		after := w
		after.Terms = s.Terms()
		for i := range w.NeedsCount() {
			if now := after.NeedsAt(i).Mem; now < w.NeedsAt(i).Mem || i == task && now <= peak {
				t.Errorf("%s: tasks of kind %d have %d after %d; the peak was %d", v.Fix, i, now, w.NeedsAt(i).Mem, peak)
			}
		}
	})
}
