package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestTakes: what attempts take in a phase is averaged over the time in which they had something to do and in which
// the resource was measured; one that never was is null, not 0.
func TestTakes(t *testing.T) {
	j := New(Info{ID: "b-1"})
	j.Apply(event.Entry{Seq: 1, At: 1, Record: event.JobSubmitted{Work: job.Work{ID: "b-1", Kind: job.Bag, Tasks: 2, Terms: job.Terms{Attempts: 1}}}})
	gap := job.ResourceSet(0).With(job.Disk)
	second := job.Time(time.Second)
	for i, stats := range [][]job.PhaseStat{
		{{Phase: job.PhaseFetch, End: second, Missing: gap}, {Phase: job.PhaseCompute, Start: second, End: 5 * second, Waited: 2 * time.Second, CPU: time.Second, DiskBytes: 600, NetBytes: 8, PeakMemory: 7}},
		{{Phase: job.PhaseFetch, End: second, Missing: gap}, {Phase: job.PhaseCompute, Start: second, End: 3 * second, CPU: time.Second, Missing: gap}},
	} {
		at := job.Attempt{Job: "b-1", Task: i, N: 1}
		j.Apply(event.Entry{Seq: uint64(2*i + 2), At: 1, Record: event.AttemptStarted{Attempt: at, Node: "a1/0"}})
		j.Apply(event.Entry{Seq: uint64(2*i + 3), At: 2, Record: event.AttemptEnded{Attempt: at, Outcome: event.Done, Stats: stats}})
	}
	v := j.View(3)
	for i, want := range []string{
		`{"cpu":0,"mem":0,"disk_bps":null,"net_bps":0}`,
		`{"cpu":0.5,"mem":7,"disk_bps":300,"net_bps":2}`,
		`{"cpu":null,"mem":null,"disk_bps":null,"net_bps":null}`,
	} {
		if got, _ := json.Marshal(v.Phases[i].Takes); string(got) != want {
			t.Errorf("%s takes %s, want %s", v.Phases[i].Phase, got, want)
		}
	}
	if raw, _ := json.Marshal(v.Phases[0]); !strings.Contains(string(raw), `"disk_bps":null`) {
		t.Errorf("a gap is not told: %s", raw)
	}
}
