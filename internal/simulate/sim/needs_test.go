package sim

import (
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/loads"
)

// mixed returns a bag of many small tasks and some large ones, in random order.
func mixed(rng *rand.Rand) workload.Elastic {
	e := workload.Elastic{ID: 1, App: "mix", Further: []job.Needs{{CPUs: 4, Mem: 8 << 30}, {CPUs: 12, Mem: 4 << 30}}}
	var list job.NeedsList
	for range 100 + rng.IntN(300) {
		n, mean := job.Needs{}, 60.0
		switch rng.IntN(30) {
		case 0:
			n, mean = e.Further[1], 180
		case 1, 2:
			n, mean = e.Further[0], 120
		}
		list.Add(n)
		e.Maps = append(e.Maps, time.Duration(mean*(0.5+rng.Float64())*1000)*time.Millisecond)
	}
	e.Further, e.Which = list.Further, list.Runs()
	return e
}

// TestMixBeatsLargest: planned by what each of its tasks needs, a bag is on average done no later than if it was planned as if all of them
// needed as much as the largest, and it holds fewer nodes for a shorter time. The core-seconds of all tasks are done.
func TestMixBeatsLargest(t *testing.T) {
	const rounds = 12
	var done, held [2]float64
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 9))
		cfg := Config{Policy: batch.EASY, Seed: seed, Cluster: Cluster{Nodes: 24, Cores: 16, Memory: 64 << 30, MaxTime: 4 * time.Hour, StartUp: 5 * time.Second}}
		for i := range 12 {
			run := time.Duration(60+rng.IntN(3000)) * time.Second
			cfg.Rigid = append(cfg.Rigid, workload.Rigid{ID: int64(i + 1), Submit: job.Time(time.Duration(i*40) * time.Second), Nodes: 1 + rng.IntN(10), Run: run, Request: 2 * run})
		}
		e := mixed(rng)
		e.Submit = job.Time(5 * time.Minute)
		cfg.Elastic = []workload.Elastic{e}
		for i, largest := range []bool{false, true} {
			cfg.Adaptor = Adaptor{Way: Berth, Largest: largest}
			r, err := Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			o := &r.Elastic[0]
			if busy := loads.Work(&e); o.Killed || r.Busy < busy*0.999 || r.Busy > busy*1.001 {
				t.Fatalf("seed %d: %+v, busy for %g core-seconds, its tasks have %g", seed, o, r.Busy, busy)
			}
			done[i] += o.Turnaround() / rounds
			held[i] += r.HeldElastic / rounds
		}
	}
	t.Logf("turnaround %.0f s, held %.0f node-seconds; planned by the largest %.0f s, %.0f node-seconds", done[0], held[0], done[1], held[1])
	if done[0] > done[1]*1.01 || held[0] > held[1] {
		t.Errorf("turnaround %.0f s, %.0f node-seconds; planned by the largest %.0f s, %.0f node-seconds", done[0], held[0], done[1], held[1])
	}
}
