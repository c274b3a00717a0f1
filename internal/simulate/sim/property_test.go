package sim

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/replay"
	"berth/test/support/enginetest"
)

// genConfig draws a small workload on a small cluster.
func genConfig(t *rapid.T) Config {
	cfg := Config{
		Cluster: Cluster{Nodes: rapid.IntRange(1, 12).Draw(t, "nodes"), Cores: rapid.IntRange(0, 3).Draw(t, "cores"),
			StartUp: rapid.SampledFrom([]time.Duration{0, 0, 3 * time.Second}).Draw(t, "startup"),
			MaxTime: rapid.SampledFrom([]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour, 0}).Draw(t, "max")},
		Policy: rapid.SampledFrom(batch.Policies).Draw(t, "policy"),
		Seed:   rapid.Uint64().Draw(t, "seed"),
		Rigid:  genRigid(t, 0),
	}
	if rapid.Bool().Draw(t, "unequal") {
		for range cfg.Cluster.Nodes {
			cfg.Cluster.Speeds = append(cfg.Cluster.Speeds, rapid.SampledFrom([]float64{0.75, 1, 2}).Draw(t, "speed"))
		}
	}
	for i := range cfg.Rigid {
		cfg.Rigid[i].Nodes = min(cfg.Rigid[i].Nodes, cfg.Cluster.Nodes)
	}
	cfg.Elastic = genElastic(t)
	cfg.Adaptor = Adaptor{Way: rapid.SampledFrom([]Way{Naive, Paper, Berth, Berth}).Draw(t, "way"),
		Shared: rapid.Bool().Draw(t, "shared"), Order: rapid.SampledFrom([]sched.Order{sched.FIFO, sched.Shortest}).Draw(t, "order")}
	cfg.Adaptor.Unknown = cfg.Adaptor.Way != Paper && rapid.Bool().Draw(t, "unknown")
	if rapid.Bool().Draw(t, "one") {
		cfg.Adaptor.Request = job.Request{MaxAllocs: 1, NoScout: true, WallTime: rapid.SampledFrom([]string{job.WallAuto, job.WallUpper}).Draw(t, "wall")}
	}
	cfg.Adaptor.Yield = rapid.Bool().Draw(t, "yield")
	cfg.Adaptor.Request.Courtesy = rapid.SampledFrom([]float64{0, 0, 2}).Draw(t, "courtesy")
	return cfg
}

func genRigid(t *rapid.T, least int) []workload.Rigid {
	var out []workload.Rigid
	at := job.Time(0)
	for i := range rapid.IntRange(least, 12).Draw(t, "rigid") {
		at = at.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "gap")) * time.Second)
		out = append(out, workload.Rigid{ID: int64(i + 1), User: -1, Submit: at, Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"),
			Run: time.Duration(rapid.IntRange(0, 100).Draw(t, "run")) * time.Second, Request: time.Duration(rapid.IntRange(1, 120).Draw(t, "request")) * time.Second})
	}
	return out
}

func genElastic(t *rapid.T) []workload.Elastic {
	var out []workload.Elastic
	at := job.Time(0)
	times := func(n, most int, name string) []time.Duration {
		var ds []time.Duration
		for range n {
			ds = append(ds, time.Duration(rapid.IntRange(0, most).Draw(t, name))*time.Second)
		}
		return ds
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "elastic") {
		at = at.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "gap")) * time.Second)
		e := workload.Elastic{ID: int64(i + 1), App: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app"), User: int64(rapid.IntRange(1, 2).Draw(t, "user")), Submit: at,
			Maps: times(rapid.IntRange(1, 20).Draw(t, "maps"), 60, "map")}
		if e.Reduces = times(rapid.IntRange(0, 6).Draw(t, "reduces"), 60, "reduce"); e.Reduces != nil && rapid.Bool().Draw(t, "shuffles") {
			e.FirstShuffle, e.Shuffle = times(len(e.Reduces), 5, "first"), times(len(e.Reduces), 9, "shuffle")
		}
		out = append(out, e)
	}
	return out
}

// TestWorld checks for random workloads that no node is used twice, that the engine's invariants
// hold (enginetest.Ledger), that each task of a successful job is done once, that each plan serves the tasks for which it was requested, and
// that all jobs end.
func TestWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := genConfig(t)
		if rapid.Bool().Draw(t, "faults") {
			cfg.Faults = Faults{NodeMTBF: 10 * time.Minute, Repair: 2 * time.Minute, SlowMTBF: 10 * time.Minute, SlowFor: time.Minute, SlowBy: 1.5,
				TaskFails: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "fails")}
		}
		r := watched(t, cfg)
		clean := cfg.Faults == Faults{}
		for i, o := range r.Elastic {
			e := &cfg.Elastic[i]
			if o.Submit != e.Submit || o.Start < e.Submit || o.Finish < o.Start || !o.Killed && clean && o.Allocs == 0 && !cfg.Adaptor.Shared {
				t.Fatalf("elastic %d: %+v", i, o)
			}
		}
		for i, o := range r.Rigid {
			j := &cfg.Rigid[i]
			if o.Submit != j.Submit || o.Start < j.Submit || o.Nodes != j.Nodes || o.Killed != (j.Run > j.Request) ||
				o.Finish.Sub(o.Start) < min(j.Run, j.Request) || clean && o.Finish.Sub(o.Start) != min(j.Run, j.Request) {
				t.Fatalf("rigid %d: %+v of %+v", i, o, j)
			}
		}
		if nodes := float64(cfg.Cluster.Nodes); r.HeldRigid+r.HeldElastic > nodes*r.End.Sub(r.Begin).Seconds()+1e-6 {
			t.Fatalf("more node-seconds are held than there are: %+v", r)
		}
		if again, err := Run(context.Background(), cfg); err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("the second time: %+v, %v; the first time: %+v", again, err, r)
		}
	})
}

// watched simulates and checks the invariants at every instant.
func watched(t *rapid.T, cfg Config) *Result {
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(context.Background(), &cfg)
	ledgers := make(map[*coordinator]*enginetest.Ledger)
	leave := make(map[job.Attempt]job.Phase)
	done := make(map[job.Attempt]int) // attempts that succeeded; N 0 counts all attempts of a task
	seq := uint64(0)
	w.watch = func(c *coordinator, r event.Record) {
		if ledgers[c] == nil {
			ledgers[c] = enginetest.NewLedger(t.Fatalf)
		}
		seq++
		ledgers[c].Apply(event.Entry{Seq: seq, At: w.now, Record: r})
		switch r := r.(type) {
		case event.AttemptStarted:
			leave[r.Attempt] = r.Through
		case event.PhaseGranted:
			leave[r.Attempt] = r.Phase
		case event.PhaseEntered:
			if r.Phase > leave[r.Attempt] && r.Phase != job.PhaseMerge { // a map with one spill does not ask for a grant
				t.Fatalf("%v enters %v and has a grant through %v", r.Attempt, r.Phase, leave[r.Attempt])
			}
		case event.AttemptEnded:
			if r.Outcome == event.Done {
				r.Attempt.N = 0
				done[r.Attempt]++
			}
		case event.OutputLost:
			t.Fatalf("finished work is lost: %+v", r)
		}
	}
	last := job.Time(0)
	for steps := 0; w.left > 0 && w.err == nil; steps++ {
		w.advance()
		if w.now < last || steps > 1e5 {
			t.Fatalf("time goes from %v to %v, step %d", last, w.now, steps)
		}
		last = w.now
		checkNodes(t, w)
	}
	if w.err != nil {
		t.Fatal(w.err)
	}
	w.finish()
	if w.anew > 0 {
		t.Fatalf("%d plans left tasks that nothing serves", w.anew)
	}
	for _, a := range w.apps {
		for i := range len(a.Maps) + len(a.Reduces) {
			if n := done[job.Attempt{Job: a.id, Task: i}]; n > 1 || n == 0 && !a.out.Killed {
				t.Fatalf("task %d of %s was done %d times: %+v", i, a.id, n, a.out)
			}
		}
	}
	return w.result
}

// checkNodes checks that every node is free, down or assigned to one running allocation, and that
// the batch system has the same counts.
func checkNodes(t *rapid.T, w *World) {
	m := w.machine
	owners := make([]*allocation, len(m.state))
	for _, a := range w.allocs {
		if a.state != running {
			continue
		}
		if len(a.on) != a.nodes || w.now > a.ends() {
			t.Fatalf("allocation %d of %d nodes has %v until %v, it is %v", a.id, a.nodes, a.on, a.ends(), w.now)
		}
		for _, i := range a.on {
			if owners[i] != nil {
				t.Fatalf("node %d is had by %d and %d", i, owners[i].id, a.id)
			}
			owners[i] = a
		}
	}
	free, out := 0, 0
	for i := range m.state {
		isFree := m.state[i].holder == nil && !m.state[i].out
		if m.state[i].holder != owners[i] || isFree && (owners[i] != nil || m.state[i].down) || !isFree && owners[i] == nil && !m.state[i].out {
			t.Fatalf("node %d: %+v, free %t, owner %v", i, m.state[i], isFree, owners[i])
		}
		if isFree {
			free++
		}
		if m.state[i].out {
			out++
		}
	}
	if w.queues[0].Free() != free || w.queues[0].System.Nodes() != len(m.state)-out {
		t.Fatalf("the batch system has %d free of %d, there are %d free of %d", w.queues[0].Free(), w.queues[0].System.Nodes(), free, len(m.state)-out)
	}
}

// TestRigidIsReplay checks that a simulation of rigid jobs alone equals a replay by the batch system
// alone.
func TestRigidIsReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := genRigid(t, 1)
		for _, p := range batch.Policies {
			r, err := Run(context.Background(), Config{Cluster: Cluster{Nodes: 8}, Policy: p, Rigid: jobs})
			if err != nil {
				t.Fatal(err)
			}
			for i, start := range replay.Run(8, p, jobs) {
				if r.Rigid[i].Start != start {
					t.Fatalf("%s: job %d starts at %v, by itself at %v", p, i, r.Rigid[i].Start, start)
				}
			}
		}
	})
}

// TestBagIsListScheduled checks that a bag alone on a cluster without limits is list-scheduled.
func TestBagIsListScheduled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := genElastic(t)[0]
		e.Reduces, e.FirstShuffle, e.Shuffle = nil, nil, nil
		nodes := rapid.IntRange(1, 9).Draw(t, "nodes")
		r, err := Run(context.Background(), Config{Cluster: Cluster{Nodes: nodes, MaxTime: time.Hour}, Policy: batch.CBF, Elastic: []workload.Elastic{e}, Adaptor: Adaptor{Way: Naive}})
		if err != nil {
			t.Fatal(err)
		}
		slots := make([]time.Duration, nodes)
		last := time.Duration(0)
		for _, d := range e.Maps {
			least := 0
			for i := range slots {
				if slots[i] < slots[least] {
					least = i
				}
			}
			slots[least] += d
			last = max(last, slots[least])
		}
		if got := r.Elastic[0].Finish.Sub(e.Submit); got != last {
			t.Fatalf("it took %v, list-scheduled %v", got, last)
		}
	})
}

// TestCancelled checks that a cancelled simulation returns the context's error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, Config{Cluster: Cluster{Nodes: 1}, Policy: batch.FCFS, Rigid: []workload.Rigid{{Nodes: 1, Run: 1, Request: 1}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestNothing checks that a workload without jobs ends at once.
func TestNothing(t *testing.T) {
	r, err := Run(context.Background(), Config{Cluster: Cluster{Nodes: 1}, Policy: batch.EASY})
	if err != nil || r.End != 0 || r.Begin != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMachine checks that the free nodes with the lowest numbers are assigned, also beyond 64.
func TestMachine(t *testing.T) {
	m, q := newMachine(&Cluster{Nodes: 130}), &queue{all: []int{0}}
	a, b := &allocation{queue: q, nodes: 127}, &allocation{queue: q, nodes: 3}
	m.assign(a)
	m.assign(b)
	if got := fmt.Sprint(a.on[0], a.on[126], b.on); got != "0 126 [127 128 129]" {
		t.Error(got)
	}
	if !m.state[5].down && m.fail(5) || m.reclaim(a) != 1 || m.repair(5) != true || m.fail(6) != true {
		t.Errorf("nodes 5 and 6: %+v", m.state[5:7])
	}
	c := &allocation{queue: q, nodes: 6}
	m.assign(c)
	if fmt.Sprint(c.on) != "[0 1 2 3 4 5]" {
		t.Error(c.on)
	}
	d := &allocation{queue: q, nodes: 1}
	if m.assign(d); d.on[0] != 7 {
		t.Error(d.on)
	}
}
