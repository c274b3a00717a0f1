package report

import (
	"encoding/json"
	"io"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// BenchmarkEvents makes the lines of berth watch --json for 100,000 tasks: queued, started and ended. Run it with -cpu 1.
func BenchmarkEvents(b *testing.B) {
	const tasks = 100_000
	records := []event.Record{event.JobSubmitted{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: tasks, Terms: job.Terms{Need: job.Resources{CPUs: 1}, Attempts: 1, MaxFails: -1}}},
		event.NodeJoined{Node: "a1/0", Host: "n1", Capacity: job.Resources{CPUs: 2}}}
	for i := range tasks {
		at := job.Attempt{Job: "bag-1", Task: i, N: 1}
		now := job.Time(i) * job.Time(time.Millisecond)
		records = append(records, event.AttemptStarted{Attempt: at, Node: "a1/0", Through: job.PhaseStore}, event.AttemptEnded{Attempt: at, Outcome: event.Done, Stats: []job.PhaseStat{
			{Phase: job.PhaseCompute, Start: now, End: now + job.Time(time.Millisecond), CPU: time.Millisecond, PeakMemory: 1 << 20}}})
	}
	lines := 0
	for b.Loop() {
		enc := json.NewEncoder(io.Discard)
		events := NewEvents(Info{ID: "bag-1", Kind: job.Bag}, func(e Event) error {
			lines++
			return enc.Encode(e)
		})
		for i, r := range records {
			if err := events.Apply(event.Entry{Seq: uint64(i + 1), At: job.Time(i) * job.Time(time.Millisecond), Record: r}); err != nil {
				b.Fatal(err)
			}
		}
	}
	if lines%(3*tasks) != 0 {
		b.Fatalf("%d lines", lines)
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
}
