package probe

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"berth/internal/core/job"
)

// clockwork is a clock that a test moves by hand.
type clockwork struct{ t job.Time }

func (c *clockwork) now() job.Time { return c.t }

func TestMeterPhases(t *testing.T) {
	c := &clockwork{t: 100}
	m := NewMeter(c.now)
	m.Missing = m.Missing.With(job.Disk)

	m.Enter(job.PhaseMap)
	m.In(1000, 10)
	m.Out(400, 20)
	m.Spent(Spent{CPU: 5 * time.Millisecond, Disk: 512})
	m.Net(99)
	m.Waited(30)
	m.Memory(1 << 20)
	m.Memory(1 << 10)
	m.Child(Spent{CPU: 7 * time.Millisecond, Disk: 4096}, 3<<20)
	m.Child(Spent{CPU: time.Millisecond}, 2<<20)
	c.t = 200
	m.Enter(job.PhaseMap) // again: nothing happens
	m.Enter(job.PhaseMerge)
	m.In(400, 20)
	c.t = 350
	got := m.Finish()

	want := []job.PhaseStat{
		{Phase: job.PhaseMap, Start: 100, End: 200, BytesIn: 1000, BytesOut: 400, RecordsIn: 10, RecordsOut: 20,
			CPU: 13 * time.Millisecond, PeakMemory: 1<<20 + 3<<20, DiskBytes: 4608, NetBytes: 99, Waited: 30, Missing: job.ResourceSet(0).With(job.Disk)},
		{Phase: job.PhaseMerge, Start: 200, End: 350, BytesIn: 400, RecordsIn: 20, PeakMemory: 1 << 10, Missing: job.ResourceSet(0).With(job.Disk)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("phases\n got %+v\nwant %+v", got, want)
	}
	if again := m.Finish(); !reflect.DeepEqual(again, want) {
		t.Errorf("a second Finish changed the phases: %+v", again)
	}
}

func TestMeterSnapshot(t *testing.T) {
	c := &clockwork{}
	m := NewMeter(c.now)
	m.Enter(job.PhaseMap)
	if f := m.Snapshot().Part; f != -1 {
		t.Errorf("fraction without a total is %v, want -1", f)
	}
	m.Total(200)
	m.In(50, 1)
	m.Status("half way")
	m.Live(Usage{CPU: time.Second, RSS: 5})
	s := m.Snapshot()
	if s.Part != 0.25 || s.Status != "half way" || s.All.CPU != time.Second {
		t.Errorf("snapshot %+v", s)
	}
	m.In(400, 1) // a split is read on to a line end behind it
	if f := m.Snapshot().Part; f != 1 {
		t.Errorf("fraction past the total is %v, want 1", f)
	}
	m.Enter(job.PhaseMerge)
	if s := m.Snapshot(); s.Part != -1 || s.BytesIn != 0 || s.Phase != job.PhaseMerge {
		t.Errorf("the new phase did not begin at nothing: %+v", s)
	}
}

func TestMeterConcurrently(t *testing.T) {
	m := NewMeter(Now)
	m.Enter(job.PhaseMap)
	const goroutines, each = 8, 1000
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				m.In(2, 1)
				m.Out(3, 1)
				m.Counter("g", "c", 1)
				m.Memory(7)
				m.Snapshot()
			}
		})
	}
	wg.Wait()
	s := m.Finish()[0]
	if s.BytesIn != 2*goroutines*each || s.BytesOut != 3*goroutines*each || s.PeakMemory != 7 {
		t.Errorf("lost counts: %+v", s)
	}
	if n := m.Counters()["g,c"]; n != goroutines*each {
		t.Errorf("counter is %d, want %d", n, goroutines*each)
	}
}

func BenchmarkMeterIn(b *testing.B) {
	m := NewMeter(Now)
	m.Enter(job.PhaseMap)
	for b.Loop() {
		m.In(100, 1)
	}
}

// TestQueued: time in which a program had no processor is no time of the phase, but no phase takes more than a core by that.
func TestQueued(t *testing.T) {
	now := job.Time(0)
	m := NewMeter(func() job.Time { return now })
	for i, c := range []struct{ cpu, queued, busy time.Duration }{{2, 3, 7}, {2, 30, 2}, {12, 5, 10}, {0, 0, 10}} {
		m.Enter([]job.Phase{job.PhaseMap, job.PhaseMerge}[i%2])
		m.Child(Spent{CPU: c.cpu * time.Second, Queued: c.queued * time.Second}, 0)
		now += job.Time(10 * time.Second)
		m.Enter(job.PhaseNone)
		if got := m.done[i].Busy(); got != c.busy*time.Second {
			t.Errorf("%+v: busy for %v", c, got)
		}
	}
}
