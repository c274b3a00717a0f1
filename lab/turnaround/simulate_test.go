package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"berth/internal/simulate/batch"
)

// TestSimulate: simulated situations give the turnarounds that were measured on a real Slurm, but for some seconds: of the table in
// lab/results/turnaround.md, and of d1-24 (N×1).
func TestSimulate(t *testing.T) {
	all := append(slices.Clone(script), drawn(1, 24, 0)...)
	for _, of := range []struct {
		situation, strategy string
		measured            float64
	}{{"half", ours, 99}, {"half", "a", 245}, {"hole", ours, 39}, {"hole", "a", 243}, {"full-ragged", "b", 403}, {"d1-24", "N×1", 53}, {"d1-02", ours, 21}} {
		s := all[slices.IndexFunc(all, func(s situation) bool { return s.name == of.situation })]
		st := strategies[slices.IndexFunc(strategies, func(st strategy) bool { return st.name == of.strategy })]
		r, err := s.simulate(context.Background(), &st, batch.CBF, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Elastic[0].Turnaround(); math.Abs(got-of.measured) > 8 {
			t.Errorf("%s, %s: %.1f s, measured %.0f s", of.situation, of.strategy, got, of.measured)
		}
	}
}

// TestSimulateRefuses: a situation with parts of nodes or of the cluster is refused.
func TestSimulateRefuses(t *testing.T) {
	for _, name := range []string{"half-nodes", "short", "drained"} {
		s := script[slices.IndexFunc(script, func(s situation) bool { return s.name == name })]
		if _, err := s.simulate(context.Background(), &strategies[0], batch.CBF, 0); err == nil {
			t.Errorf("%s was simulated", name)
		}
	}
}

// TestSimulateApart: in situations in which nodes become free one by one berth is no more than a tenth behind a habit that asks for each node
// apart. With at most three requests, judged by their mean starts, it was a fifth behind, and a half in d1-53.
func TestSimulateApart(t *testing.T) {
	all := drawn(1, 53, 0)
	narrow := strategies[slices.IndexFunc(strategies, func(st strategy) bool { return st.name == "N×1" })]
	for _, i := range []int{16, 24, 53} {
		var of [2]float64
		for k, st := range []*strategy{&strategies[0], &narrow} {
			r, err := all[i-1].simulate(context.Background(), st, batch.CBF, 0)
			if err != nil {
				t.Fatal(err)
			}
			of[k] = r.Elastic[0].Turnaround()
		}
		if of[0] > 1.1*of[1] {
			t.Errorf("%s: %.1f s, N×1 %.1f s", all[i-1].name, of[0], of[1])
		}
	}
}

// TestSimulateAnywhere: in drawn situations with several partitions berth with -p any is the best, or within a tenth of the best habit, in 19 of 20:
// of users who know the default partition only, list all, or ask where their request starts first.
func TestSimulateAnywhere(t *testing.T) {
	good, all := 0, drawn(1, 40, 1)
	for i := range all {
		s := &all[i]
		best, own := math.Inf(1), 0.0
		for _, st := range slices.Concat(strategies, inPartitions) {
			if st.name == "torc" {
				continue
			}
			r, err := s.simulate(context.Background(), &st, batch.CBF, 0)
			if err != nil {
				t.Fatal(s.name, st.name, err)
			}
			if took := r.Elastic[0].Turnaround(); st.name == ours {
				own = took
			} else {
				best = min(best, took)
			}
		}
		if own <= tolerance*best {
			good++
		} else {
			t.Logf("%s (%s): %.1f s, the best habit %.1f s", s.name, s.about, own, best)
		}
	}
	if good*20 < len(all)*19 {
		t.Errorf("in %d of %d situations", good, len(all))
	}
}
