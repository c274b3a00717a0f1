package sim

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/loads"
)

// genLarge draws jobs with equal numbers of tasks, each of which is many waves of maps on the whole cluster, as those of the large bins of
// the paper's figure 3 are. They come faster than they can be done.
func genLarge(t *rapid.T) Config {
	nodes := rapid.IntRange(4, 12).Draw(t, "nodes")
	return genEqual(t, nodes, nodes*rapid.IntRange(3, 7).Draw(t, "waves"), nodes*rapid.IntRange(2, 6).Draw(t, "reduces")/4)
}

// genEqual draws jobs with these numbers of maps and reduces.
func genEqual(t *rapid.T, nodes, maps, reduces int) Config {
	cfg := Config{Cluster: Cluster{Nodes: nodes, MaxTime: 18 * time.Hour}, Policy: batch.CBF, Seed: rapid.Uint64().Draw(t, "seed")}
	times := func(n, mean int) (ds []time.Duration) {
		for range n {
			ds = append(ds, time.Duration(rapid.IntRange(mean*3/4, mean*5/4).Draw(t, "s"))*time.Second)
		}
		return ds
	}
	for i := range rapid.IntRange(6, 12).Draw(t, "jobs") {
		cfg.Elastic = append(cfg.Elastic, workload.Elastic{ID: int64(i + 1), App: "a", User: 1, Submit: job.Time(time.Duration(i) * 14 * time.Second),
			Maps: times(maps, 60), Reduces: times(reduces, 80), FirstShuffle: times(reduces, 8), Shuffle: times(reduces, 12)})
	}
	return cfg
}

// TestLargeJobsYield: jobs that fill the cluster, and give back what they have requested when they are done, are not later than with naive
// requests. Reduces that wait for maps on nodes that are to be given back once kept these nodes until their wall time was over.
func TestLargeJobsYield(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := genLarge(t)
		mean := func(a Adaptor) (sum float64) {
			cfg.Adaptor = a
			r, err := Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Elastic {
				sum += r.Elastic[i].Turnaround() / float64(len(r.Elastic))
			}
			return sum
		}
		naive, yield := mean(Adaptor{Way: Naive}), mean(Adaptor{Way: Berth, Shared: true, Order: sched.Shortest, Yield: true})
		t.Logf("naive %.0f s, yield %.0f s, %.2f", naive, yield, yield/naive)
		if yield > 1.05*naive {
			t.Fatalf("naive %.0f s, yield %.0f s", naive, yield)
		}
	})
}

// TestLostWork: whatever the size of equal jobs, how they request nodes and which of them goes first, little of the work is lost by attempts
// that are not done. Once the first measured tasks, the shortest of those that had begun together, stood for all others (sched.Times).
func TestLostWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(4, 12).Draw(t, "nodes")
		cfg := genEqual(t, nodes, rapid.IntRange(nodes, 4*nodes).Draw(t, "maps"), rapid.IntRange(0, nodes).Draw(t, "reduces"))
		cfg.Adaptor = Adaptor{Way: Berth, Shared: rapid.Bool().Draw(t, "shared"), Order: rapid.SampledFrom([]sched.Order{sched.FIFO, sched.Shortest}).Draw(t, "order")}
		cfg.Adaptor.Yield = cfg.Adaptor.Shared && rapid.Bool().Draw(t, "yield")
		r, err := Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		lost, work := 0.0, 0.0
		for i := range r.Elastic {
			lost, work = lost+r.Elastic[i].LostWork, work+loads.Work(&cfg.Elastic[i])
		}
		if lost > 0.1*(lost+work) {
			t.Fatalf("%.0f core-seconds of %.0f are lost", lost, lost+work)
		}
	})
}
