package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestEstimates checks that a request is round, at least the run time, within the queue's maximum,
// and not larger than the factor and rounding allow.
func TestEstimates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := time.Duration(rapid.Int64Range(0, int64(100*24*time.Hour)).Draw(t, "run"))
		m := Estimates{
			Factor: rapid.SampledFrom([]float64{0, 0.5, 10}).Draw(t, "f"),
			Max:    time.Duration(rapid.Int64Range(0, int64(200*time.Hour)).Draw(t, "max")),
		}
		got := m.Request(run, newRand(rapid.Uint64().Draw(t, "seed")))
		free := Estimates{Factor: m.Factor}.Request(run, newRand(1))
		round := slices.Contains(popular, got) || got%(24*time.Hour) == 0
		f := m.Factor
		if f == 0 {
			f = estimateFactor
		}
		switch {
		case m.Max > 0 && got > m.Max:
			t.Fatalf("%v asks for %v, the queue takes %v", run, got, m.Max)
		case got < run && got != m.Max:
			t.Fatalf("%v asks for %v", run, got)
		case !round && got != m.Max:
			t.Fatalf("%v asks for %v, which is not round", run, got)
		case free > roundUp(time.Duration(float64(run)*(1+f))+time.Millisecond):
			t.Fatalf("%v asks for %v under f = %g", run, free, f)
		}
	})
}

func TestRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: time.Minute, time.Minute: time.Minute, time.Minute + 1: 2 * time.Minute, 16 * time.Hour: 18 * time.Hour,
		24 * time.Hour: 24 * time.Hour, 24*time.Hour + 1: 48 * time.Hour, 100 * time.Hour: 120 * time.Hour,
	} {
		if got := roundUp(d); got != want {
			t.Errorf("%v is rounded to %v, want %v", d, got, want)
		}
	}
}

// TestEstimatesMean checks the used fraction of estimates against the factor, with long jobs, for
// which rounding to days is small.
func TestEstimatesMean(t *testing.T) {
	const n = 20_000
	jobs := make([]Rigid, n)
	for i := range jobs {
		jobs[i].Run = 10_000 * 24 * time.Hour
	}
	Estimates{}.Apply(jobs, newRand(1))
	used := 0.0
	for _, j := range jobs {
		used += j.Run.Seconds() / j.Request.Seconds() / n
	}
	near(t, "share of the estimate that is used", used, math.Log(5)/4, 0.01)
}

func TestMerge(t *testing.T) {
	a := []Rigid{{ID: 7, Submit: 1}, {ID: 8, Submit: 5}}
	b := []Rigid{{ID: 1, Submit: 1, Nodes: 2}, {ID: 2, Submit: 2}}
	want := []Rigid{{ID: 1, Submit: 1}, {ID: 2, Submit: 1, Nodes: 2}, {ID: 3, Submit: 2}, {ID: 4, Submit: 5}}
	if got := MergeRigid(a, b); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	if a[0].ID != 7 {
		t.Error("what was merged has changed")
	}
	e := MergeElastic([]Elastic{{Submit: 3}}, []Elastic{{Submit: 2, Bin: 4}})
	if e[0].Bin != 4 || e[0].ID != 1 || e[1].Submit != 3 || e[1].ID != 2 {
		t.Errorf("got %+v", e)
	}
}

func TestWindow(t *testing.T) {
	jobs := []Rigid{{ID: 1, Submit: 1}, {ID: 2, Submit: 5}, {ID: 3, Submit: 5}, {ID: 4, Submit: 9}}
	for _, tt := range []struct {
		from   job.Time
		length time.Duration
		want   []Rigid
	}{
		{0, 0, jobs},
		{5, 4, []Rigid{{ID: 2}, {ID: 3}}},
		{2, 0, []Rigid{{ID: 2, Submit: 3}, {ID: 3, Submit: 3}, {ID: 4, Submit: 7}}},
		{20, 0, nil},
		{2, 3, nil},
	} {
		if got := Window(jobs, tt.from, tt.length); !slices.Equal(got, tt.want) {
			t.Errorf("from %d for %d: %+v, want %+v", tt.from, tt.length, got, tt.want)
		}
	}
}
