package sim

import (
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// genFast draws a configuration without failures: jobs with shuffles, several waves of maps and
// allocations that end too early, and rigid jobs between them.
func genFast(t *rapid.T) Config {
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
	cfg := Config{
		Cluster: Cluster{Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"), Cores: rapid.IntRange(1, 3).Draw(t, "cores"),
			MaxTime: rapid.SampledFrom([]time.Duration{90 * time.Second, 10 * time.Minute, 18 * time.Hour}).Draw(t, "max time"),
			StartUp: rapid.SampledFrom([]time.Duration{0, 5 * time.Second}).Draw(t, "start-up")},
		Policy:  rapid.SampledFrom([]batch.Policy{batch.CBF, batch.EASY}).Draw(t, "policy"),
		Adaptor: Adaptor{Way: rapid.SampledFrom([]Way{Naive, Paper, Berth}).Draw(t, "way")},
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

// attempts simulates and returns the number of attempts that the engine started.
func attempts(t *rapid.T, cfg Config) (*Result, int) {
	n := 0
	w := newWorld(context.Background(), &cfg)
	w.watch = func(_ *coordinator, r event.Record) {
		if _, ok := r.(event.AttemptStarted); ok {
			n++
		}
	}
	if err := w.run(); err != nil {
		t.Fatal(err)
	}
	return w.result, n
}

// TestFastIsTheEngine checks that list-scheduled jobs end exactly when they end with the engine, and
// that everything else is unchanged.
func TestFastIsTheEngine(t *testing.T) {
	fast, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := genFast(t)
		if cfg.check() != nil {
			t.Skip("a task is longer than the queue's maximum")
		}
		want, slow := attempts(t, cfg)
		cfg.Adaptor.Fast = true
		got, rest := attempts(t, cfg)
		fast, all = fast+slow-rest, all+slow
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
		t.Errorf("only %d of %d attempts were list-scheduled", fast, all)
	}
	t.Logf("%d of %d attempts were list-scheduled", fast, all)
}

// BenchmarkFast is BenchmarkRun with list scheduling where that is possible.
func BenchmarkFast(b *testing.B) {
	for _, c := range []struct {
		name    string
		adaptor Adaptor
	}{
		{"naive", Adaptor{Way: Naive}},
		{"paper", Adaptor{Way: Paper}},
		{"berth-one", Adaptor{Way: Berth, Request: job.Request{MaxAllocs: 1}}},
		{"berth", Adaptor{Way: Berth}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Config{Cluster: Cluster{Nodes: 128, MaxTime: 18 * time.Hour}, Policy: batch.CBF, Adaptor: c.adaptor, Seed: 1}
			cfg.Elastic = mix(300, 14*time.Second, 1)
			cfg.Adaptor.Fast = true
			for b.Loop() {
				r, err := Run(context.Background(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(meanTurnaround(r.Elastic), "mr-turnaround-s")
			}
		})
	}
}
