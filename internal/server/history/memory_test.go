package history

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// TestMemorySamples: what tasks used is stored with the run, the latest of them, and is in the profile of the next, the oldest run first.
// Tasks whose memory was not measured are left out.
func TestMemorySamples(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path)
	run := func(minute, tasks int) {
		var c predict.Collector
		for i := range tasks {
			phases := []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Second), PeakMemory: int64(minute*1000 + i)}}
			c.Add(job.BagTask, phases)
			c.AddMemory(int64(i), phases)
			c.AddMemory(0, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Second)}})
		}
		save(t, s, aRun(job.ID(fmt.Sprint("bag-", minute)), minute), c.Measures())
	}
	run(1, 300)
	run(2, 28)
	p, err := s.Profile(t.Context(), "sim-1", "cpu/2")
	if err != nil {
		t.Fatal(err)
	}
	got := p.Measures.Get(predict.BagTask).LastMemory()
	if len(got) != job.MemorySamples || got[0] != (job.MemorySample{Size: 200, Peak: 1200, Time: time.Second}) || got[99].Peak != 1299 ||
		got[100].Peak != 2000 || got[127].Peak != 2027 {
		t.Errorf("%d samples: %+v", len(got), got)
	}
	raw(t, path, `UPDATE measures SET memory = x'80' WHERE run = 'bag-2' AND part = 'task:bag'`)
	if _, err := s.Profile(t.Context(), "sim-1", "cpu/2"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged samples: %v", err)
	}
}
