package batch

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"berth/internal/simulate/workload"
)

// TestReplay compares whole replays with those of the references, second by second: jobs of no duration,
// jobs that reach their limits, and jobs that arrive and end at one instant.
func TestReplay(t *testing.T) {
	for p, reference := range references {
		t.Run(string(p), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 20).Draw(t, "nodes")
				jobs := make([]workload.Rigid, rapid.IntRange(0, 40).Draw(t, "jobs"))
				now := job.Time(0)
				for i := range jobs {
					now += job.Time(rapid.IntRange(0, 3).Draw(t, "dt"))
					jobs[i] = workload.Rigid{
						Submit: now, Nodes: rapid.IntRange(1, nodes).Draw(t, "n"),
						Run:     time.Duration(rapid.IntRange(0, 12).Draw(t, "run")),
						Request: time.Duration(rapid.IntRange(1, 12).Draw(t, "request")),
					}
				}
				got, want := Replay(nodes, p, jobs), replayReference(reference(nodes), jobs)
				if !slices.Equal(got, want) {
					t.Fatalf("%+v start at %v, want %v", jobs, got, want)
				}
			})
		})
	}
}

// replayReference steps through all instants until all jobs have ended. With jobs of no duration an
// instant has several rounds.
func replayReference(w reference, jobs []workload.Rigid) []job.Time {
	starts := slices.Repeat([]job.Time{timeline.Never}, len(jobs))
	ended := make([]bool, len(jobs))
	arrived := 0
	for now, left := job.Time(0), len(jobs); left > 0; now++ {
		for again := true; again; {
			again = false
			for i, j := range jobs {
				if !ended[i] && starts[i] != timeline.Never && starts[i].Add(min(j.Run, j.Request)) == now {
					w.end(now, ID(i))
					ended[i] = true
					left--
				}
			}
			for ; arrived < len(jobs) && jobs[arrived].Submit == now; arrived++ {
				w.submit(now, Entry{ID: ID(arrived), Nodes: jobs[arrived].Nodes, Limit: jobs[arrived].Request})
			}
			for _, id := range w.start(now) {
				starts[id] = now
				again = again || jobs[id].Run == 0
			}
		}
	}
	return starts
}
