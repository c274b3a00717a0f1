package sim

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

const gangNodes, gangCores = 8, 8

// gangs returns a bag of 60 gangs, each of 2 to 6 whole nodes, and 2,000 tasks of one core, in random order.
func gangs(rng *rand.Rand) workload.Elastic {
	e := workload.Elastic{ID: 1, App: "mix"}
	var list job.NeedsList
	for _, i := range rng.Perm(2060) {
		n, mean := job.Needs{}, 60.0
		if i < 60 {
			n, mean = job.Needs{CPUs: gangCores, Gang: job.Gang{Ranks: 2 + rng.IntN(5)}}, 120
		}
		list.Add(n)
		e.Maps = append(e.Maps, time.Duration(mean*(0.5+rng.Float64())*1000)*time.Millisecond)
	}
	e.Further, e.Which = list.Further, list.Runs()
	return e
}

// TestGangsLeaveLittleUnused: gangs beside small tasks, of which nothing is known before they run, leave little of their nodes unused: no schedule is
// done sooner than the core-seconds of all tasks take on all cores. No gang waits until the small tasks are done.
func TestGangsLeaveLittleUnused(t *testing.T) {
	const rounds = 5
	sum := 0.0
	for seed := range uint64(rounds) {
		e := gangs(rand.New(rand.NewPCG(seed, 11)))
		cfg := Config{Policy: batch.EASY, Seed: seed, Cluster: Cluster{Nodes: gangNodes, Cores: gangCores, MaxTime: 1000 * time.Hour}, Elastic: []workload.Elastic{e},
			Adaptor: Adaptor{Way: Naive, Unknown: true}}
		r, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		used := r.Busy / (gangNodes * gangCores * r.Elastic[0].Turnaround())
		t.Logf("seed %d: %.3f of the cores used", seed, used)
		sum += used / rounds
	}
	t.Logf("%.1f %% of the best packing", 100*sum)
	if sum < 0.97 {
		t.Errorf("%.1f %% of the best packing", 100*sum)
	}
}

// limited returns a bag of tasks of one core whose time limits say how long they take.
func limited(t *rapid.T, id int64, least, most int) workload.Elastic {
	e := workload.Elastic{ID: id, App: "limited"}
	var list job.NeedsList
	if id == 1 { // the allocation stays until the others come
		list.Add(job.Needs{TimeLimit: time.Minute})
		e.Maps = append(e.Maps, time.Minute)
	}
	for range rapid.IntRange(least, most).Draw(t, "tasks") {
		took := time.Duration(rapid.IntRange(1, 30).Draw(t, "took")) * time.Second
		list.Add(job.Needs{TimeLimit: took})
		e.Maps = append(e.Maps, took)
	}
	e.Further, e.Which = list.Further, list.Runs()
	return e
}

// gangStart simulates jobs on one allocation of the whole cluster, and returns when the gang of the second job starts, and how many tasks of the
// third started before.
func gangStart(t *rapid.T, cfg Config) (at job.Time, before int) {
	w := newWorld(context.Background(), &cfg)
	started := false
	w.watch = func(_ *coordinator, r event.Record) {
		switch r, ok := r.(event.AttemptStarted); {
		case !ok || started:
		case r.Gang != nil:
			at, started = w.now, true
		case r.Attempt.Job == IDOf(&cfg.Elastic[len(cfg.Elastic)-1], 2):
			before++
		}
	}
	if err := w.run(); err != nil || !started {
		t.Fatalf("the gang starts at %v: %v", at, err)
	}
	return at, before
}

// TestSmallTasksDelayNoGang: however many tasks come after a gang, it starts when it would start without them, if it is known how long they and those
// before it take. Some of them start before it.
func TestSmallTasksDelayNoGang(t *testing.T) {
	early := 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, cores := rapid.IntRange(2, 5).Draw(t, "nodes"), rapid.IntRange(1, 3).Draw(t, "cores")
		gang := workload.Elastic{ID: 2, App: "gang", Submit: job.Time(rapid.IntRange(1, 20).Draw(t, "submit")) * job.Time(time.Second), Maps: []time.Duration{time.Minute}}
		var list job.NeedsList
		list.Add(job.Needs{Gang: job.Gang{Ranks: rapid.IntRange(2, nodes*cores).Draw(t, "ranks"), RanksPerNode: rapid.IntRange(0, 1).Draw(t, "spread")}})
		if list.Further[0].RanksPerNode > 0 {
			list.Further[0].Ranks = min(list.Further[0].Ranks, nodes)
		}
		gang.Further, gang.Which = list.Further, list.Runs()
		small := limited(t, 3, 1, 30)
		small.Submit = gang.Submit
		cfg := Config{Policy: batch.EASY, Cluster: Cluster{Nodes: nodes, Cores: cores, MaxTime: 100 * time.Hour}, Adaptor: Adaptor{Way: Naive, Shared: true, Unknown: true},
			Elastic: []workload.Elastic{limited(t, 1, nodes, 3*nodes*cores), gang, small}}
		cfg.Adaptor.Change = func(_ *workload.Elastic, p *plan.Plan) { p.Alloc.Nodes = nodes }
		cfg.Adaptor.Scheduler = rapid.SampledFrom([]*sched.Scheduler{sched.Cores, sched.Phases}).Draw(t, "scheduler")
		beside, before := gangStart(t, cfg)
		cfg.Elastic = cfg.Elastic[:2]
		if alone, _ := gangStart(t, cfg); beside > alone {
			t.Fatalf("the gang starts at %v, and would start at %v without the tasks after it", since(beside), since(alone))
		}
		early += before
	})
	if early == 0 {
		t.Error("no later task started before a gang")
	}
}
