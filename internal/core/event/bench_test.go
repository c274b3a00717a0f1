package event

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/core/job"
)

// benchEntries are the entries of one bag task, the most frequent ones there are.
func benchEntries() []Entry {
	a := job.Attempt{Job: "bag-17", Task: 123456, N: 1}
	at := job.Time(1_700_000_000_000_000_000)
	var stats []job.PhaseStat
	for i, p := range job.BagTask.Phases() {
		stats = append(stats, job.PhaseStat{
			Phase: p, Start: at.Add(time.Duration(i) * time.Millisecond), End: at.Add(time.Duration(i+1) * time.Millisecond),
			BytesOut: 100, CPU: time.Millisecond, PeakMemory: 1 << 20,
		})
	}
	return []Entry{
		{Seq: 1000, At: at, Record: AttemptStarted{Attempt: a, Node: "a3/0", Through: job.PhaseStore, Commit: true}},
		{Seq: 1001, At: at, Record: PhaseEntered{Attempt: a, Phase: job.PhaseCompute}},
		{Seq: 1002, At: at, Record: AttemptEnded{Attempt: a, Outcome: Done, Stats: stats}},
	}
}

func BenchmarkMarshal(b *testing.B) {
	for _, e := range benchEntries() {
		b.Run(fmt.Sprintf("%T", e.Record), func(b *testing.B) {
			b.ReportAllocs()
			buf, err := e.Marshal()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				if buf, err = MarshalTo(buf[:0], e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for _, e := range benchEntries() {
		b.Run(fmt.Sprintf("%T", e.Record), func(b *testing.B) {
			b.ReportAllocs()
			buf, err := e.Marshal()
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				if _, err := Unmarshal(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
