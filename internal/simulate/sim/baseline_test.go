package sim

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

// invariantsOf returns invariants without spread: all tasks of a kind have the same duration.
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

// asked is the part of a request that the tests compare.
type asked struct {
	nodes int
	time  time.Duration
	start job.Time
}

func askedOf(c plan.Candidate) asked { return asked{c.Take, c.Time, c.Start} }

// TestAlgorithm1Fig2 places jobs with maps of 1 s in the slots of Fig. 2. T_up of n maps on S nodes
// is then (n−1)/S + 1 by eq. 1, with N_M·M_avg where the paper prints N_M + M_avg.
func TestAlgorithm1Fig2(t *testing.T) {
	for _, c := range []struct {
		name string
		s    baseline
		want asked
		none bool
	}{
		{name: "slot 1", s: baseline{maps: 26}, want: asked{25, 2 * time.Second, at(10)}},
		{name: "a little too long for slot 1", s: baseline{maps: 27}, want: asked{27, 2 * time.Second, at(13)}},
		{name: "slot 2", s: baseline{maps: 51}, want: asked{50, 2 * time.Second, at(13)}},
		{name: "slot 4 before slot 3", s: baseline{maps: 52}, want: asked{52, 2 * time.Second, at(17)}},
		{name: "slot 3 where no more nodes may be had", s: baseline{maps: 52, maxNodes: 25}, want: asked{25, 4 * time.Second, at(16)}},
		{name: "all nodes", s: baseline{maps: 1001}, want: asked{100, 11 * time.Second, at(17)}},
		{name: "all nodes, fewer do", s: baseline{maps: 1001, fewest: true}, want: asked{99, 12 * time.Second, at(17)}},
		{name: "one map", s: baseline{maps: 1}, want: asked{1, time.Second, at(10)}},
		{name: "two slots a node", s: baseline{maps: 51, perNode: 2}, want: asked{25, 2 * time.Second, at(10)}},
		{name: "not in the time", s: baseline{maps: 1001, maxTime: 10 * time.Second}, none: true},
		{name: "reduces", s: baseline{maps: 4, reduces: 8}, want: asked{8, 4 * time.Second, at(16)}},
		{name: "nothing to do", none: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.now, c.s.line, c.s.invariants = at(10), fig2(), invariantsOf(1, 0.5, 1)
			c.s.perNode = max(c.s.perNode, 1)
			got, ok := c.s.algorithm1()
			if ok == c.none || ok && askedOf(got) != c.want {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

func TestNaive(t *testing.T) {
	for _, c := range []struct {
		name string
		s    baseline
		want asked
		none bool
	}{
		{name: "first slot", s: baseline{maps: 25, maxTime: 2 * time.Second}, want: asked{25, 2 * time.Second, at(10)}},
		{name: "too long for it", s: baseline{maps: 25, maxTime: 3 * time.Second}, want: asked{25, 3 * time.Second, at(16)}},
		{name: "more reduces than maps", s: baseline{maps: 2, reduces: 26, maxTime: 2 * time.Second}, want: asked{26, 2 * time.Second, at(13)}},
		{name: "more maps than nodes", s: baseline{maps: 2400, maxTime: time.Hour}, want: asked{100, time.Hour, at(17)}},
		{name: "bounded", s: baseline{maps: 2400, maxTime: time.Hour, maxNodes: 10}, want: asked{10, time.Hour, at(16)}},
		{name: "unlimited", s: baseline{maps: 60}, want: asked{60, 0, at(17)}},
		{name: "nothing to do", s: baseline{maxTime: time.Hour}, none: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.now, c.s.line = at(10), fig2()
			got, ok := c.s.naive()
			if ok == c.none || ok && askedOf(got) != c.want {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

// TestAlgorithm1Property compares the result with every instant and every number of nodes: the
// request fits, no other request ends earlier by the bounds, and none with fewer nodes ends as
// early.
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
		s := baseline{
			maps: rapid.IntRange(1, 40).Draw(t, "maps"), reduces: rapid.IntRange(0, 10).Draw(t, "reduces"), line: line,
			invariants: invariantsOf(rapid.Float64Range(0.1, 3).Draw(t, "map"), rapid.Float64Range(0, 1).Draw(t, "shuffle"), rapid.Float64Range(0, 3).Draw(t, "reduce")),
			maxNodes:   rapid.IntRange(0, nodes).Draw(t, "maxNodes"), maxTime: time.Duration(rapid.IntRange(0, 30).Draw(t, "maxTime")) * time.Second,
			perNode: rapid.IntRange(1, 2).Draw(t, "perNode"),
		}
		least := math.Inf(1)
		turnaround := func(start job.Time, n int) float64 {
			exec := s.upper(n)
			d := time.Duration(math.Ceil(exec)) * time.Second
			if s.maxTime > 0 && d > s.maxTime || line.Min(start, start.Add(d)) < n || s.maxNodes > 0 && n > s.maxNodes {
				return math.Inf(1)
			}
			return start.Sub(0).Seconds() + exec
		}
		for start := range job.Time(horizon + 10) {
			for n := 1; n <= min(nodes, (max(s.maps, s.reduces)+s.perNode-1)/s.perNode); n++ {
				least = min(least, turnaround(start*at(1), n))
			}
		}
		got, ok := s.algorithm1()
		if ok != !math.IsInf(least, 1) {
			t.Fatalf("found %v, but the least turnaround is %g", ok, least)
		}
		if !ok {
			return
		}
		if mine := turnaround(got.Start, got.Take); mine > least+1e-9 {
			t.Fatalf("%+v has a turnaround of %g, but %g can be had", got, mine, least)
		}
		s.fewest = true
		few, _ := s.algorithm1()
		if mine := turnaround(few.Start, few.Take); mine > least*1.01+1e-9 || few.Take > got.Take {
			t.Fatalf("%+v has a turnaround of %g, the best is %g on %d nodes", few, mine, least, got.Take)
		}
		for start := range job.Time(horizon + 10) {
			for n := 1; n < few.Take; n++ {
				if mine := turnaround(start*at(1), n); mine < least*1.01-1e-9 {
					t.Fatalf("%+v, but %d nodes at %d have a turnaround of %g, the best is %g", few, n, start, mine, least)
				}
			}
		}
	})
}
