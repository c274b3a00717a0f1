package predict

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// ran returns a phase with that duration and use.
func ran(p job.Phase, d, cpu time.Duration, mem, disk, net int64) job.PhaseStat {
	return job.PhaseStat{Phase: p, End: job.Time(d), CPU: cpu, PeakMemory: mem, DiskBytes: disk, NetBytes: net}
}

// about reports whether a and b differ by no more than a bucket of levels is wide.
func about(a, b int64) bool { return math.Abs(float64(a-b)) <= float64(b)/8+1 }

func TestDemandsAtFullSpeed(t *testing.T) {
	var d Demands
	if _, ok := d.Demand(job.PhaseMap); ok {
		t.Fatal("a demand of nothing")
	}
	for i := range 10 { // two of ten ran alone, the others shared the disk: they took three times as long
		slow := time.Duration(3)
		if i%5 == 0 {
			slow = 1
		}
		d.Add([]job.PhaseStat{
			ran(job.PhaseMap, slow*2*time.Second, time.Second, int64(100+i)<<20, 200e6, 0),
			ran(job.PhaseMerge, slow*time.Second, 500*time.Millisecond, 10<<20, 300e6, 0),
		})
	}
	got, ok := d.Demand(job.PhaseMap)
	if !ok || !about(got.Demand.CPU, 500) || !about(got.Demand.Disk, 100e6) || got.Demand.Net != 0 || got.Demand.Memory != 109<<20 {
		t.Errorf("map takes %v, %v", got, ok)
	}
	if math.Abs(got.Seconds-2) > 0.25 {
		t.Errorf("map lasts %g s at full speed", got.Seconds)
	}
	if got, ok := d.Demand(job.PhaseMerge); !ok || got.Phase != job.PhaseMerge || !about(got.Demand.Disk, 300e6) {
		t.Errorf("merge takes %v, %v", got, ok)
	}
}

// TestGapIsNoZero: attempts in which a resource could not be measured do not change its rate.
func TestGapIsNoZero(t *testing.T) {
	var u PhaseUse
	for range 9 {
		s := ran(job.PhaseCompute, time.Second, time.Second, 0, 0, 0)
		s.Missing = s.Missing.With(job.Disk).With(job.Net)
		u.Add(&s)
	}
	s := ran(job.PhaseCompute, time.Second, time.Second, 0, 50e6, 0)
	s.Missing = s.Missing.With(job.Net)
	u.Add(&s)
	d, _ := u.Demand(job.PhaseCompute)
	if !about(d.Demand.Disk, 50e6) {
		t.Errorf("takes %v", d.Demand)
	}
}

// TestWaitsAreNoWork: the demand of a shuffle that waits for maps most of its time equals that of one that does not
// wait.
func TestWaitsAreNoWork(t *testing.T) {
	var d Demands
	s := ran(job.PhaseShuffle, 10*time.Second, 100*time.Millisecond, 0, 0, 50e6)
	s.Waited = 9 * time.Second
	d.Add([]job.PhaseStat{s})
	if got, _ := d.Demand(job.PhaseShuffle); !about(got.Demand.Net, 50e6) || !about(got.Demand.CPU, 100) || math.Abs(got.Seconds-1) > 0.1 {
		t.Errorf("takes %+v", got)
	}
}

// TestShortPhasesAreJoined: a phase of some milliseconds has no rate of its own, many together have.
func TestShortPhasesAreJoined(t *testing.T) {
	var d Demands
	d.Add([]job.PhaseStat{ran(job.PhaseMap, 2*time.Millisecond, time.Millisecond, 0, 9e6, 0)})
	if got, _ := d.Demand(job.PhaseMap); got.Demand.CPU != 500 || got.Demand.Disk != 0 {
		t.Errorf("after one short phase: takes %+v", got)
	}
	for i := range 100 {
		cpu := time.Duration(0) // every other attempt used 2 cores, the others none
		if i%2 == 0 {
			cpu = 4 * time.Millisecond
		}
		d.Add([]job.PhaseStat{ran(job.PhaseCompute, 2*time.Millisecond, cpu, 0, 1000, 0)})
	}
	got, ok := d.Demand(job.PhaseCompute)
	if !ok || !about(got.Demand.CPU, 1000) || !about(got.Demand.Disk, 500e3) {
		t.Errorf("takes %v", got)
	}
}

// TestLevelsAreTheQuantile: however values come and are merged, the quantile is within a bucket of the
// one that sorting gives, and survives being stored.
func TestLevelsAreTheQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 1, 60).Draw(t, "values")
		cut := rapid.IntRange(0, len(values)).Draw(t, "cut")
		spare := rapid.SampledFrom([]int64{0, 10, 100, 500}).Draw(t, "spare")
		var l, rest levels
		for i, v := range values {
			if i < cut {
				l.add(v)
			} else {
				rest.add(v)
			}
		}
		l.merge(&rest)
		slices.Sort(values)
		want := values[len(values)-1-int(int64(len(values))*spare/1000)]
		if levelOf(want) != l.upper(spare) || l.max != values[len(values)-1] || l.top(spare) < want || l.middle(spare) > l.max {
			t.Fatalf("quantile in bucket %d, want %d (%d of %v)", l.upper(spare), levelOf(want), want, values)
		}
		var back levels
		r := varints{b: l.append(nil)}
		back.read(&r)
		if r.bad || back.upper(spare) != l.upper(spare) || back.total() != l.total() {
			t.Fatalf("read back %+v, was %+v", back, l)
		}
	})
}

func TestBucketsFollowEachOther(t *testing.T) {
	for i := range highest {
		if lo, hi := bottom(i), bottom(i+1); levelOf(lo) != i || levelOf(hi-1) != i || hi <= lo {
			t.Fatalf("bucket %d is [%d, %d): %d, %d", i, lo, hi, levelOf(lo), levelOf(hi-1))
		}
	}
}

// TestPhaseUseIsKept: use that is stored and read again, or merged in parts, is the same.
func TestPhaseUseIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phases := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) job.PhaseStat {
			n := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
			s := ran(job.PhaseSort, time.Duration(n("time", 1e12))+shortPhase, time.Duration(n("cpu", 1e12)), n("mem", 1<<40), n("disk", 1<<50), n("net", 1<<50))
			s.Missing = job.ResourceSet(n("missing", 15))
			return s
		}), 1, 20).Draw(t, "phases")
		var all, a, b PhaseUse
		cut := rapid.IntRange(0, len(phases)).Draw(t, "cut")
		for i := range phases {
			all.Add(&phases[i])
			if i < cut {
				a.Add(&phases[i])
			} else {
				b.Add(&phases[i])
			}
		}
		a.Merge(&b)
		data, err := a.MarshalBinary()
		var back PhaseUse
		if err != nil || back.UnmarshalBinary(data) != nil {
			t.Fatal(err)
		}
		want, _ := all.Demand(job.PhaseSort)
		got, _ := back.Demand(job.PhaseSort)
		if want.Demand != got.Demand || math.Abs(want.Seconds-got.Seconds) > 1e-9*want.Seconds {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func FuzzPhaseUse(f *testing.F) {
	var u PhaseUse
	s := ran(job.PhaseMap, time.Second, time.Second, 1<<20, 1<<30, 7)
	u.Add(&s)
	data, _ := u.MarshalBinary()
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var u PhaseUse
		if u.UnmarshalBinary(data) != nil {
			return
		}
		again, err := u.MarshalBinary()
		var back PhaseUse
		if err != nil || back.UnmarshalBinary(again) != nil {
			t.Fatalf("%x is read, and written as %x", data, again)
		}
		u.Demand(job.PhaseMap)
	})
}

func BenchmarkDemandsAdd(b *testing.B) {
	for _, c := range []struct {
		name   string
		phases []job.PhaseStat
	}{
		{"map", []job.PhaseStat{ran(job.PhaseMap, 2*time.Second, time.Second, 100<<20, 200e6, 0), ran(job.PhaseMerge, time.Second, 500*time.Millisecond, 10<<20, 300e6, 0)}},
		{"short", []job.PhaseStat{ran(job.PhaseFetch, time.Microsecond, 0, 0, 0, 0), ran(job.PhaseCompute, time.Millisecond, time.Millisecond, 0, 100, 0), ran(job.PhaseStore, time.Microsecond, 0, 0, 0, 0)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var d Demands
			for b.Loop() {
				d.Add(c.phases)
			}
		})
	}
}

func BenchmarkDemand(b *testing.B) {
	var d Demands
	d.Add([]job.PhaseStat{ran(job.PhaseMap, 2*time.Second, time.Second, 100<<20, 200e6, 0)})
	for b.Loop() {
		d.Demand(job.PhaseMap)
	}
}
