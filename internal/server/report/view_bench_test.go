package report

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// BenchmarkView measures how long the view of a bag takes of which many attempts run, as watchers ask for it several times a second.
func BenchmarkView(b *testing.B) {
	for _, running := range []int{100, 10_000} {
		b.Run(fmt.Sprint(running), func(b *testing.B) {
			j, now := New(Info{ID: "bag-1"}), job.Time(1e9)
			apply := func(r event.Record) { j.Apply(event.Entry{At: now, Record: r}) }
			apply(event.JobSubmitted{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 10 * running, Terms: job.Terms{Attempts: 1, Need: job.Resources{CPUs: 1}}}})
			start := func(task int) {
				a, node := job.Attempt{Job: "bag-1", Task: task, N: 1}, job.AllocID("a1").Node(task%100)
				apply(event.AttemptStarted{Attempt: a, Node: node})
				apply(event.PhaseEntered{Attempt: a, Phase: job.PhaseCompute})
				j.ApplyProgress(node, wire.Progress{Progress: job.Progress{Attempt: a, Source: job.ProgressHits, N: 10, Fraction: -1}, PhaseProgress: probe.PhaseProgress{Phase: job.PhaseCompute, Part: -1}})
			}
			for task := range running {
				start(task)
			}
			for task := range running {
				began := now
				now = now.Add(time.Duration(task%7+1) * time.Millisecond)
				apply(event.AttemptEnded{Attempt: job.Attempt{Job: "bag-1", Task: task, N: 1}, Outcome: event.Done,
					Stats: []job.PhaseStat{{Phase: job.PhaseCompute, Start: began - job.Time(task%13)*1e9, End: now}}})
				start(running + task)
			}
			for b.Loop() {
				if v := j.View(now.Add(time.Second)); v.TasksRunning != running || v.EtaS == nil {
					b.Fatalf("%d tasks run, and the end is expected in %v s", v.TasksRunning, v.EtaS)
				}
			}
		})
	}
}
