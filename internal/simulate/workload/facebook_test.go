package workload

import (
	"math"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
)

func TestFacebookMix(t *testing.T) {
	const n = 20_000
	g := NewFacebook(Facebook{Users: 4}, newRand(1))
	var bins [10]float64
	var users [4]float64
	var maps, mapTime, mapSquares, reduces, reduceTime float64
	var last job.Time
	for range n {
		e := g.Next()
		want := FacebookBins[e.Bin-1]
		if len(e.Maps) != want.Maps || len(e.Reduces) != want.Reduces || e.Submit < last || e.App != "facebook" || e.Shuffle != nil {
			t.Fatalf("job %d of bin %d has %d maps and %d reduces", e.ID, e.Bin, len(e.Maps), len(e.Reduces))
		}
		last = e.Submit
		bins[e.Bin]++
		users[e.User]++
		for _, d := range e.Maps {
			if d < time.Second {
				t.Fatalf("a map of %v", d)
			}
			maps++
			mapTime += d.Seconds()
			mapSquares += d.Seconds() * d.Seconds()
		}
		for _, d := range e.Reduces {
			reduces++
			reduceTime += d.Seconds()
		}
	}
	for i, b := range FacebookBins {
		near(t, "weight of a bin", bins[i+1]/n, float64(b.Weight)/101, 0.1)
	}
	for _, u := range users {
		near(t, "share of a user", u/n, 0.25, 0.05)
	}
	near(t, "time between arrivals", last.Sub(0).Seconds()/n, 14, 0.02)
	near(t, "map", mapTime/maps, 60.11, 0.002) // 60 without the cut at 1 s
	near(t, "spread of maps", math.Sqrt(mapSquares/maps-math.Pow(mapTime/maps, 2)), 19.83, 0.01)
	near(t, "reduce", reduceTime/reduces, 120, 0.005)
}

// TestFacebookSources checks that a parameter changes only what it describes, so that jobs can be
// compared.
func TestFacebookSources(t *testing.T) {
	mix := Drawn(NewFacebook(Facebook{}, newRand(7)).Next, 0, time.Hour)
	again := Drawn(NewFacebook(Facebook{}, newRand(7)).Next, len(mix), 0)
	if !reflect.DeepEqual(mix, again) {
		t.Error("the same seed makes other jobs")
	}
	for bin := 1; bin <= 9; bin++ {
		one := Drawn(NewFacebook(Facebook{Bin: bin, Users: 3}, newRand(7)).Next, len(mix), 0)
		for i, e := range one {
			if e.Bin != bin || e.Submit != mix[i].Submit {
				t.Fatalf("job %d of bin %d comes at %d, in the mix at %d", e.ID, e.Bin, e.Submit, mix[i].Submit)
			}
			if mix[i].Bin == bin && !reflect.DeepEqual(e.Maps, mix[i].Maps) {
				t.Fatalf("job %d has other maps in the mix", e.ID)
			}
		}
	}
	slow := Drawn(NewFacebook(Facebook{Every: 28 * time.Second}, newRand(7)).Next, len(mix), 0)
	if got := slow[9].Submit - 2*mix[9].Submit; got < -job.Time(10*time.Millisecond) || got > job.Time(10*time.Millisecond) {
		t.Errorf("job 10 comes at %d, with half the rate at %d", mix[9].Submit, slow[9].Submit)
	}
}

func TestNormalKeepsShortTasks(t *testing.T) {
	for _, d := range (Normal{Mean: 10 * time.Millisecond, SD: time.Second}).Draw(newRand(1), 100) {
		if d < 5*time.Millisecond {
			t.Errorf("drew %v", d)
		}
	}
	if d := (Normal{Mean: time.Minute}).Draw(newRand(1), 1)[0]; d != time.Minute {
		t.Errorf("without spread: %v", d)
	}
}

func BenchmarkFacebook(b *testing.B) {
	g := NewFacebook(Facebook{}, newRand(1))
	for b.Loop() {
		g.Next()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
