package physics

import (
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// genFast draws a configuration without failures: jobs with shuffles, several waves of maps and
// allocations that end too early, and rigid jobs between them.
func genFast(t *rapid.T) sim.Config {
	ms := func(label string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * rapid.SampledFrom([]time.Duration{time.Millisecond, 500 * time.Millisecond}).Draw(t, "grain")
	}
	list := func(label string, n, from, to int) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = ms(label, from, to)
		}
		return out
	}
	cfg := sim.Config{
		Cluster: sim.Cluster{Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"), Cores: rapid.IntRange(1, 3).Draw(t, "cores"),
			MaxTime: rapid.SampledFrom([]time.Duration{90 * time.Second, 10 * time.Minute, 18 * time.Hour}).Draw(t, "max time"),
			StartUp: rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "start-up")},
		Policy:  rapid.SampledFrom([]batch.Policy{batch.CBF, batch.EASY}).Draw(t, "policy"),
		Adaptor: sim.Adaptor{Way: rapid.SampledFrom([]sim.Way{sim.Naive, sim.Paper, sim.Berth}).Draw(t, "way")},
	}
	if rapid.Bool().Draw(t, "one allocation") {
		cfg.Adaptor.Request = job.Request{MaxAllocs: 1}
	}
	at := time.Duration(0)
	for i := range rapid.IntRange(1, 5).Draw(t, "jobs") {
		at += ms("gap", 0, 40)
		e := workload.Elastic{ID: int64(i + 1), App: "a", User: 1, Submit: job.Time(at), Maps: list("map", rapid.IntRange(1, 30).Draw(t, "maps"), 1, 100)}
		if n := rapid.IntRange(0, 8).Draw(t, "reduces"); n > 0 {
			e.Reduces = list("reduce", n, 1, 100)
			if rapid.Bool().Draw(t, "shuffles") {
				e.FirstShuffle, e.Shuffle = list("first", n, 0, 10), list("shuffle", n, 0, 20)
			}
		}
		cfg.Elastic = append(cfg.Elastic, e)
	}
	at = 0
	for i := range rapid.IntRange(0, 4).Draw(t, "rigid jobs") {
		at += ms("gap", 0, 40)
		run := ms("run", 1, 200)
		cfg.Rigid = append(cfg.Rigid, workload.Rigid{ID: int64(i + 1), User: -1, Submit: job.Time(at), Nodes: rapid.IntRange(1, cfg.Cluster.Nodes).Draw(t, "of nodes"),
			Run: run, Request: run + ms("more", 0, 100)})
	}
	return cfg
}

// TestShortcutIsTheEngine checks that list-scheduled jobs end exactly when they end with the engine, and
// that everything else is unchanged.
func TestShortcutIsTheEngine(t *testing.T) {
	fast, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := genFast(t)
		want, err := sim.Run(t.Context(), cfg)
		if job.ClassOf(err) == job.User {
			t.Skip("a task is longer than the queue's maximum")
		}
		if err != nil {
			t.Fatal(err)
		}
		cfg.Adaptor.Shortcut = func(a sim.Alone) (job.Time, bool) {
			finish, ok := Shortcut(a)
			if ok {
				fast++
			}
			return finish, ok
		}
		got, err := sim.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		all += len(cfg.Elastic)
		for i := range want.Elastic {
			if !reflect.DeepEqual(got.Elastic[i], want.Elastic[i]) {
				t.Errorf("job %d: %+v, with the engine %+v", i+1, got.Elastic[i], want.Elastic[i])
			}
		}
		for i := range want.Rigid {
			if !reflect.DeepEqual(got.Rigid[i], want.Rigid[i]) {
				t.Errorf("rigid job %d: %+v, with the engine %+v", i+1, got.Rigid[i], want.Rigid[i])
			}
		}
		if got.HeldElastic != want.HeldElastic || got.HeldRigid != want.HeldRigid || got.Begin != want.Begin || got.End != want.End ||
			math.Abs(got.Busy-want.Busy) > 1e-9*want.Busy {
			t.Errorf("%+v, with the engine %+v", got, want)
		}
	})
	if 4*fast < all {
		t.Errorf("only %d of %d jobs were list-scheduled", fast, all)
	}
	t.Logf("%d of %d jobs were list-scheduled", fast, all)
}
