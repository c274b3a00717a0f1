package sched

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestExpected: of tasks that begin together the shortest are measured first, so the plan's time counts until few are left.
func TestExpected(t *testing.T) {
	times := Times{Hint: 100 * time.Second}
	for i := range 20 {
		times.Add(time.Duration(i+1)*4*time.Second, 19-i, true)
		if got := times.Expected(); i < 15 && got != times.Hint || i == 19 && (got < 70*time.Second || got > 80*time.Second) {
			t.Errorf("after %d of 20 tasks of 4 to 80 s, %v are expected", i+1, got)
		}
	}
	if times = (Times{}); times.Expected() != 0 {
		t.Error("something is expected of nothing")
	}
	for range enough {
		times.Add(time.Minute, enough, true)
	}
	if got := times.Expected(); got < 59*time.Second || got > 61*time.Second {
		t.Errorf("without a plan, %v are expected of tasks of a minute", got)
	}
}

func TestWork(t *testing.T) {
	for _, c := range []struct {
		name string
		left Unstarted
		want float64
	}{
		{"nothing", Unstarted{CPUs: 1, Times: Times{Planned: time.Hour}}, 0},
		{"as planned", Unstarted{Tasks: 3, CPUs: 2, Times: Times{Planned: 10 * time.Second}}, 60},
		{"no cores", Unstarted{Tasks: 3, Times: Times{Planned: 10 * time.Second}}, 30},
		{"a guess", Unstarted{Tasks: 2, CPUs: 1}, 120},
		{"a guess that one outlived", Unstarted{Tasks: 2, CPUs: 1, Times: Times{Longest: time.Hour}}, 7200},
		{"a plan that one outlived", Unstarted{Tasks: 2, CPUs: 1, Times: Times{Planned: time.Second, Longest: time.Hour}}, 2},
		{"a guess against one measured", Unstarted{Tasks: 1, CPUs: 1, Times: Times{Done: 1, Took: 180}}, 120},
		{"a plan against one measured", Unstarted{Tasks: 1, CPUs: 1, Times: Times{Planned: time.Minute, Done: 1, Took: 120}}, 70},
		{"a plan against many", Unstarted{Tasks: 1, CPUs: 1, Times: Times{Planned: time.Minute, Done: 995, Took: 995 * 20}}, 20.2},
	} {
		if got := c.left.Work(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v core-seconds, want %v", c.name, got, c.want)
		}
	}
}

// TestRank: less work and an earlier release come first; no job is overtaken by one that is
// released later by more than the time of its work on the ageing cores; nothing overflows.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() (job.Time, Unstarted) {
			return job.Time(rapid.Int64Range(0, 1<<61).Draw(t, "release")), Unstarted{
				Tasks: rapid.IntRange(0, math.MaxInt32).Draw(t, "tasks"), CPUs: rapid.IntRange(0, 1024).Draw(t, "cpus"),
				Times: Times{
					Planned: time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "planned")),
					Done:    rapid.Int64Range(0, 1e6).Draw(t, "done"), Took: rapid.Float64Range(0, 1e9).Draw(t, "took"),
				},
			}
		}
		ageing := Ageing(rapid.IntRange(0, 1<<20).Draw(t, "cores"), rapid.Float64Range(0, 1).Draw(t, "share"))
		release, left := draw()
		rank := Rank(release, ageing, left.Work())
		if rank < release {
			t.Fatalf("the rank is before the release: %v", rank)
		}
		more := left
		more.Tasks += rapid.IntRange(0, 1000).Draw(t, "more")
		if Rank(release, ageing, more.Work()) < rank || Rank(release, ageing, left.Work()+more.Work()) < rank || Rank(release+1, ageing, left.Work()) <= rank {
			t.Fatal("more work or a later release comes before")
		}
		patience := job.Time(math.Min(left.Work()/ageing*float64(time.Second), farthest))
		if _, other := draw(); Rank(release+patience+1, ageing, other.Work()) <= rank {
			t.Fatalf("a job is overtaken by one that came %v later", time.Duration(patience+1))
		}
	})
}

// TestPoolScale: the scale is within a factor of two of the cores, and changes only when
// they have doubled or halved since the last change.
func TestPoolScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := 0
		for range rapid.IntRange(1, 50).Draw(t, "changes") {
			cores := rapid.IntRange(0, 5000).Draw(t, "cores")
			next := PoolScale(scale, cores)
			if next < 1 || next&(next-1) != 0 || cores >= 2*next || 2*cores < next && next > 1 {
				t.Fatalf("%d cores are taken for %d", cores, next)
			}
			if cores >= scale/2+scale%2 && cores < 2*scale && next != scale {
				t.Fatalf("%d cores: the scale went from %d to %d", cores, scale, next)
			}
			scale = next
		}
	})
}
