package predict

import (
	"math"
	"testing"
	"time"

	"berth/internal/core/job"
)

// sec returns the time so many seconds after 0.
func sec(s float64) job.Time { return job.Time(s * float64(time.Second)) }

// span is a phase from start to end, in seconds.
func span(p job.Phase, start, end float64, in, out int64) job.PhaseStat {
	return job.PhaseStat{Phase: p, Start: sec(start), End: sec(end), BytesIn: in, BytesOut: out,
		CPU: time.Duration((end - start) / 2 * float64(time.Second)), PeakMemory: 1 << 20}
}

func addMap(c *Collector, start, mapped, merged float64, in, out int64) {
	c.Add(job.MapTask, []job.PhaseStat{span(job.PhaseMap, start, mapped, in, out), span(job.PhaseMerge, mapped, merged, out, out)})
}

func addReduce(c *Collector, start, shuffled, sorted, reduced float64, in, out int64) {
	c.Add(job.ReduceTask, []job.PhaseStat{
		span(job.PhaseShuffle, start, shuffled, in, 0),
		span(job.PhaseSort, shuffled, sorted, in, in),
		span(job.PhaseReduce, sorted, reduced, in, out),
	})
}

// wordCount is a run of two maps, the last of which ends at 10 s, and three
// reduces: one waits for the maps from 2 s on, one starts early and is done with
// its shuffle when they end, one comes after.
func wordCount() *Collector {
	var c Collector
	addMap(&c, 0, 5, 6, 1000, 500)
	addMap(&c, 0, 9, 10, 1000, 500)
	addReduce(&c, 2, 13, 14, 20, 400, 40)
	addReduce(&c, 3, 10, 12, 16, 400, 40)
	addReduce(&c, 20, 24, 25, 29, 200, 20)
	return &c
}

func TestCollector(t *testing.T) {
	ms := wordCount().Measures()
	tests := []struct {
		part           Part
		count          int64
		mean, maximum  float64
		in, out        int64
		coresOfOneHalf bool
	}{
		{part: MapTask, count: 2, mean: 8, maximum: 10, in: 2000, out: 1000},
		{part: FirstShuffle, count: 2, mean: 1.5, maximum: 3, in: 800},
		{part: OtherShuffle, count: 1, mean: 4, maximum: 4, in: 200},
		{part: ReduceTask, count: 3, mean: (7 + 6 + 5) / 3.0, maximum: 7, in: 1000, out: 100},
		{part: PhasePart(job.PhaseShuffle), count: 3, mean: (11 + 7 + 4) / 3.0, maximum: 11, in: 1000},
		{part: PhasePart(job.PhaseMerge), count: 2, mean: 1, maximum: 1, in: 1000, out: 1000},
	}
	for _, tt := range tests {
		m := ms.Get(tt.part)
		if m.Time.Count != tt.count || math.Abs(m.Time.Mean()-tt.mean) > 1e-9 || m.Time.Max != tt.maximum || m.BytesIn != tt.in || m.BytesOut != tt.out {
			t.Errorf("%s: count %d, mean %g, max %g, bytes %d → %d; want %+v", tt.part, m.Time.Count, m.Time.Mean(), m.Time.Max, m.BytesIn, m.BytesOut, tt)
		}
	}
	if n := len(ms.Parts()); n != 9 {
		t.Errorf("%d parts: %v", n, ms.Parts())
	}
	got := ms.Demands()
	if len(got) != 5 || got[0].Phase != job.PhaseMap || !about(got[0].Demand.CPU, 500) || got[0].Demand.Memory != 1<<20 {
		t.Errorf("demands %+v", got)
	}
}

func TestCollectorOfBag(t *testing.T) {
	var c Collector
	c.Add(job.BagTask, nil)
	c.Add(job.BagTask, []job.PhaseStat{span(job.PhaseFetch, 0, 1, 0, 0), span(job.PhaseCompute, 3, 7, 0, 100), span(job.PhaseStore, 7, 7.5, 100, 0)})
	m := c.Measures().Get(BagTask)
	if m.Time.Count != 1 || m.Time.Max != 5.5 || m.BytesOut != 100 { // the wait from 1 to 3 is not the task's
		t.Errorf("got %+v", m)
	}
}

func wordCountProfile() *Profile {
	p := &Profile{App: "wc", NodeType: "n"}
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2, Reduces: 3}, sec(29), wordCount().Measures())
	return p
}

func TestInvariantsOfTheSameSize(t *testing.T) {
	inv, ok := wordCountProfile().Invariants(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2, Reduces: 3})
	if !ok {
		t.Fatal("not known")
	}
	got := Bounds(inv, Shape{Maps: 2, Reduces: 3, MapSlots: Uniform(2), ReduceSlots: Uniform(2)})
	want := Estimate{
		Map:          Interval{8, 14},              // 2·8/2; 1·8/2 + 10
		FirstShuffle: Interval{1.5, 3},             //
		OtherShuffle: Interval{2, 4},               // (3/2 − 1)·4; (2/2 − 1)·4 + 4
		Reduce:       Interval{3 * 6 / 2.0, 6 + 7}, // 3·6/2; 2·6/2 + 7
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestInvariantsOfUnknownScaling: sizes of the measured tasks do not differ, so four
// times the input in as many maps takes between the same and four times as long.
func TestInvariantsOfUnknownScaling(t *testing.T) {
	inv, _ := wordCountProfile().Invariants(Size{Kind: job.MapReduce, InputBytes: 8000, Tasks: 2, Reduces: 3})
	if inv.Map.Low != 8 || inv.Map.Avg != 32 || inv.Map.Max != 40 {
		t.Errorf("larger: %+v", inv.Map)
	}
	inv, _ = wordCountProfile().Invariants(Size{Kind: job.MapReduce, InputBytes: 8000, Tasks: 8, Reduces: 3})
	if inv.Map.Low != 8 || inv.Map.Avg != 8 {
		t.Errorf("more maps of the same size: %+v", inv.Map)
	}
	inv, _ = wordCountProfile().Invariants(Size{Kind: job.MapReduce, InputBytes: 500, Tasks: 2, Reduces: 3})
	if inv.Map.Low != 2 || inv.Map.Avg != 8 || inv.Map.Max != 10 {
		t.Errorf("smaller: %+v", inv.Map)
	}
}

// TestInvariantsOfKnownScaling: maps took 1 s and a second per 100 bytes.
func TestInvariantsOfKnownScaling(t *testing.T) {
	var c Collector
	for i := 1; i <= 8; i++ {
		addMap(&c, 0, float64(i), float64(i+1), int64(100*i), 10)
	}
	var p Profile
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 3600, Tasks: 8}, 0, c.Measures())
	inv, ok := p.Invariants(Size{Kind: job.MapReduce, InputBytes: 18000, Tasks: 10})
	if !ok || math.Abs(inv.Map.Avg-19) > 1e-9 || inv.Map.Low != inv.Map.Avg { // 1 + 1800/100
		t.Errorf("got %+v", inv.Map)
	}
	if want := 9 * 19 / 5.5; math.Abs(inv.Map.Max-want) > 1e-9 { // the longest, scaled as the mean of 5.5 s is
		t.Errorf("max %g, want %g", inv.Map.Max, want)
	}
}

// TestCompressedInput: what maps read is four times what the files hold, both before and now.
func TestCompressedInput(t *testing.T) {
	p := &Profile{}
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 500, Tasks: 2, Reduces: 3}, 0, wordCount().Measures())
	inv, _ := p.Invariants(Size{Kind: job.MapReduce, InputBytes: 500, Tasks: 2, Reduces: 3})
	if inv.Map.Low != 8 || inv.Map.Avg != 8 {
		t.Errorf("got %+v", inv.Map)
	}
	if got := p.ReduceBytes(1000); got != 2000 { // 1000 bytes were handed over for 500
		t.Errorf("ReduceBytes = %g", got)
	}
}

func TestInvariantsThatAreNotKnown(t *testing.T) {
	var c Collector
	addMap(&c, 0, 5, 6, 1000, 500)
	var p Profile
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2, Reduces: 1}, 0, c.Measures())
	if _, ok := p.Invariants(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2, Reduces: 1}); ok {
		t.Error("no reduce was measured, yet it is known")
	}
	if _, ok := p.Invariants(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2}); !ok {
		t.Error("maps were measured, yet a map-only job is not known")
	}
	if _, ok := p.Invariants(Size{Kind: job.Bag, Tasks: 2}); ok {
		t.Error("no bag task was measured, yet it is known")
	}
}

func TestSelectivities(t *testing.T) {
	p := wordCountProfile()
	if p.ReduceSelectivity() != 0.1 || p.ReduceBytes(4000) != 2000 {
		t.Errorf("reduce %g, reducers are handed %g", p.ReduceSelectivity(), p.ReduceBytes(4000))
	}
}

func TestExtrapolated(t *testing.T) {
	p := &Profile{}
	p.AddRun(Size{InputBytes: 1000, Tasks: 5}, 0, nil)
	p.AddRun(Size{InputBytes: 4000, Tasks: 20}, 0, nil)
	for input, want := range map[int64]float64{2000: 1, 1000: 1, 900: 1, 500: 0.5, 4800: 1, 8000: 2} {
		if got := p.Extrapolated(Size{InputBytes: input}); got != want {
			t.Errorf("%d bytes: %g, want %g", input, got, want)
		}
	}
	if got := p.Extrapolated(Size{Tasks: 200}); got != 10 {
		t.Errorf("200 tasks: %g, want 10", got)
	}
}

// TestNear: runs of about the job's size are taken alone, else the closest ones, all
// runs where all are far off, and all runs of a bag.
func TestNear(t *testing.T) {
	p := &Profile{App: "wc", NodeType: "n"}
	for _, input := range []int64{1000, 2000, 2200} {
		p.AddRun(Size{Kind: job.MapReduce, InputBytes: input, Tasks: 2, Reduces: 3}, sec(float64(input)), wordCount().Measures())
	}
	for _, tt := range []struct {
		input int64
		runs  int
	}{{1000, 1}, {1200, 1}, {2100, 2}, {2700, 1}, {5000, 2}, {300, 1}, {50, 3}, {50000, 3}, {0, 3}} {
		got := p.Near(Size{Kind: job.MapReduce, InputBytes: tt.input})
		if got.Runs != tt.runs || got.App != "wc" || got.Measures.Get(MapTask).Time.Count != int64(2*tt.runs) {
			t.Errorf("%d bytes: %+v, want %d runs", tt.input, got, tt.runs)
		}
	}
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 2000, Tasks: 2, Reduces: 100}, 0, wordCount().Measures())
	for reduces, runs := range map[int]int{0: 3, 3: 2, 2: 2, 100: 1, 5: 3, 20: 3} {
		if got := p.Near(Size{Kind: job.MapReduce, InputBytes: 2000, Reduces: reduces}); got.Runs != runs {
			t.Errorf("2000 bytes and %d reduces: %d runs, want %d", reduces, got.Runs, runs)
		}
	}
	var stopped Collector
	addMap(&stopped, 0, 1, 2, 10, 10)
	p.AddRun(Size{Kind: job.MapReduce, InputBytes: 9000, Tasks: 2, Reduces: 3}, 0, stopped.Measures())
	if got := p.Near(Size{Kind: job.MapReduce, InputBytes: 9000}); got.Runs != 5 {
		t.Errorf("only a run without reduces is near: %d runs", got.Runs)
	}
	if got := p.Near(Size{Kind: job.Bag, Tasks: 1}); got.Runs != 5 {
		t.Errorf("a bag: %d runs", got.Runs)
	}
}

// TestSpread: what one run shows is taken less at its word than what many show.
func TestSpread(t *testing.T) {
	e := Estimate{Map: Interval{6, 6}, Reduce: Interval{2, 4}}
	if got, want := e.Spread(1), (Estimate{Map: Interval{4, 9}, Reduce: Interval{2 / 1.5, 6}}); got != want {
		t.Errorf("after one run %+v, want %+v", got, want)
	}
	before := e.Total()
	for runs := 100; runs > 0; runs-- {
		total := e.Spread(runs).Total()
		if total.Low >= before.Low || total.Up <= before.Up && runs < 100 {
			t.Fatalf("after %d runs %v, after one more %v", runs, total, before)
		}
		before = total
	}
}
