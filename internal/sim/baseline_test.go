package sim

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// invariantsOf returns invariants without spread: every task takes the same.
func invariantsOf(maps, shuffle, reduces float64) predict.Invariants {
	one := func(v float64) predict.Invariant { return predict.Invariant{Low: v, Avg: v, Max: v} }
	return predict.Invariants{Map: one(maps), FirstShuffle: one(shuffle), OtherShuffle: one(shuffle), Reduce: one(reduces)}
}

func at(seconds int) job.Time { return job.Time(time.Duration(seconds) * time.Second) }

// fig2 is the queue of Fig. 2 of the paper, in seconds, on 100 nodes: the free slots are
// (10, 25 nodes, 2), (13, 50, 2), (16, 25, ∞) and (17, all, ∞).
func fig2() *timeline.Timeline {
	line := timeline.New(at(10), 100)
	for _, j := range []struct{ from, to, nodes int }{
		{10, 12, 75}, {12, 13, 100}, {13, 15, 50}, {15, 16, 100}, {16, 17, 50}, {16, 17, 25},
	} {
		line.Add(at(j.from), at(j.to), -j.nodes)
	}
	return line
}

// TestAlgorithm1Fig2 walks the slots of Fig. 2 with jobs of one second a map. T_up of n maps on
// S nodes is then (n−1)/S + 1, eq. 1 with N_M·M_avg where the paper prints N_M + M_avg.
func TestAlgorithm1Fig2(t *testing.T) {
	for _, c := range []struct {
		name string
		s    slotting
		want slotted
		none bool
	}{
		{name: "slot 1", s: slotting{Maps: 26}, want: slotted{25, 2 * time.Second, at(10)}},
		{name: "a little too long for slot 1", s: slotting{Maps: 27}, want: slotted{27, 2 * time.Second, at(13)}},
		{name: "slot 2", s: slotting{Maps: 51}, want: slotted{50, 2 * time.Second, at(13)}},
		{name: "slot 4 before slot 3", s: slotting{Maps: 52}, want: slotted{52, 2 * time.Second, at(17)}},
		{name: "slot 3 where no more nodes may be had", s: slotting{Maps: 52, MaxNodes: 25}, want: slotted{25, 4 * time.Second, at(16)}},
		{name: "all nodes", s: slotting{Maps: 1001}, want: slotted{100, 11 * time.Second, at(17)}},
		{name: "all nodes, fewer do", s: slotting{Maps: 1001, Fewest: true}, want: slotted{99, 12 * time.Second, at(17)}},
		{name: "one map", s: slotting{Maps: 1}, want: slotted{1, time.Second, at(10)}},
		{name: "two slots a node", s: slotting{Maps: 51, PerNode: 2}, want: slotted{25, 2 * time.Second, at(10)}},
		{name: "not in the time", s: slotting{Maps: 1001, MaxTime: 10 * time.Second}, none: true},
		{name: "reduces", s: slotting{Maps: 4, Reduces: 8}, want: slotted{8, 4 * time.Second, at(16)}},
		{name: "nothing to do", none: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Now, c.s.Timeline, c.s.Invariants = at(10), fig2(), invariantsOf(1, 0.5, 1)
			if got, ok := algorithm1(c.s); got != c.want || ok == c.none {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

func TestNaive(t *testing.T) {
	for _, c := range []struct {
		name string
		s    slotting
		want slotted
		none bool
	}{
		{name: "first slot", s: slotting{Maps: 25, MaxTime: 2 * time.Second}, want: slotted{25, 2 * time.Second, at(10)}},
		{name: "too long for it", s: slotting{Maps: 25, MaxTime: 3 * time.Second}, want: slotted{25, 3 * time.Second, at(16)}},
		{name: "more reduces than maps", s: slotting{Maps: 2, Reduces: 26, MaxTime: 2 * time.Second}, want: slotted{26, 2 * time.Second, at(13)}},
		{name: "more maps than nodes", s: slotting{Maps: 2400, MaxTime: time.Hour}, want: slotted{100, time.Hour, at(17)}},
		{name: "bounded", s: slotting{Maps: 2400, MaxTime: time.Hour, MaxNodes: 10}, want: slotted{10, time.Hour, at(16)}},
		{name: "unlimited", s: slotting{Maps: 60}, want: slotted{60, 0, at(17)}},
		{name: "nothing to do", s: slotting{MaxTime: time.Hour}, none: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Now, c.s.Timeline = at(10), fig2()
			got, ok := naive(c.s)
			if ok == c.none || ok && got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

// TestAlgorithm1Property compares with all instants and numbers of nodes, one by one: nothing
// starts where there is no room, nothing is sooner by the bounds, and nothing with fewer nodes
// is as soon.
func TestAlgorithm1Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nodes, horizon = 12, 20
		line := timeline.New(0, nodes)
		for range rapid.IntRange(0, 6).Draw(t, "jobs") {
			from := at(rapid.IntRange(0, horizon-1).Draw(t, "from"))
			to := from + at(rapid.IntRange(1, 8).Draw(t, "long"))
			if n := rapid.IntRange(1, nodes).Draw(t, "nodes"); line.Min(from, to) >= n {
				line.Add(from, to, -n)
			}
		}
		s := slotting{
			Maps: rapid.IntRange(1, 40).Draw(t, "maps"), Reduces: rapid.IntRange(0, 10).Draw(t, "reduces"), Timeline: line,
			Invariants: invariantsOf(rapid.Float64Range(0.1, 3).Draw(t, "map"), rapid.Float64Range(0, 1).Draw(t, "shuffle"), rapid.Float64Range(0, 3).Draw(t, "reduce")),
			MaxNodes:   rapid.IntRange(0, nodes).Draw(t, "maxNodes"), MaxTime: time.Duration(rapid.IntRange(0, 30).Draw(t, "maxTime")) * time.Second,
			PerNode: rapid.IntRange(1, 2).Draw(t, "perNode"),
		}
		least := math.Inf(1)
		turnaround := func(start job.Time, n int) float64 {
			exec := s.upper(n)
			d := time.Duration(math.Ceil(exec)) * time.Second
			if s.MaxTime > 0 && d > s.MaxTime || line.Min(start, start.Add(d)) < n || s.MaxNodes > 0 && n > s.MaxNodes {
				return math.Inf(1)
			}
			return start.Sub(0).Seconds() + exec
		}
		for start := range job.Time(horizon + 10) {
			for n := 1; n <= min(nodes, (max(s.Maps, s.Reduces)+s.PerNode-1)/s.PerNode); n++ {
				least = min(least, turnaround(start*at(1), n))
			}
		}
		got, ok := algorithm1(s)
		if ok != !math.IsInf(least, 1) {
			t.Fatalf("found %v, but the least turnaround is %g", ok, least)
		}
		if !ok {
			return
		}
		if mine := turnaround(got.Start, got.Nodes); mine > least+1e-9 {
			t.Fatalf("%+v has a turnaround of %g, but %g can be had", got, mine, least)
		}
		s.Fewest = true
		few, _ := algorithm1(s)
		if mine := turnaround(few.Start, few.Nodes); mine > least*1.01+1e-9 || few.Nodes > got.Nodes {
			t.Fatalf("%+v has a turnaround of %g, the best is %g on %d nodes", few, mine, least, got.Nodes)
		}
		for start := range job.Time(horizon + 10) {
			for n := 1; n < few.Nodes; n++ {
				if mine := turnaround(start*at(1), n); mine < least*1.01-1e-9 {
					t.Fatalf("%+v, but %d nodes at %d have a turnaround of %g, the best is %g", few, n, start, mine, least)
				}
			}
		}
	})
}
