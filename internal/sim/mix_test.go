package sim

import (
	"math/rand/v2"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// bin is a sort of job of the Facebook mix (models.md, section 2).
type bin struct{ maps, reduces, weight int }

var bins = []bin{{1, 0, 39}, {2, 0, 16}, {10, 3, 14}, {50, 0, 9}, {100, 0, 6}, {200, 50, 6}, {400, 0, 4}, {800, 180, 4}, {2400, 0, 3}}

// mix returns so many jobs of the Facebook mix, one of them every gap on average.
func mix(n int, gap time.Duration, seed uint64) []workload.Elastic {
	rng := rand.New(rand.NewPCG(seed, 99))
	normal := func(mean, sd float64) time.Duration {
		return roundMilli(max(mean+sd*rng.NormFloat64(), 1) * 1e9)
	}
	var out []workload.Elastic
	at := 0.0
	for i := range n {
		w := rng.IntN(101)
		b := 0
		for w >= bins[b].weight {
			w -= bins[b].weight
			b++
		}
		e := workload.Elastic{ID: int64(i + 1), App: "mix", User: 1, Submit: job.Time(roundMilli(at)), Bin: b + 1}
		at += rng.ExpFloat64() * float64(gap)
		for range bins[b].maps {
			e.Maps = append(e.Maps, normal(60, 20))
		}
		for range bins[b].reduces {
			e.Reduces = append(e.Reduces, normal(120, 30))
		}
		out = append(out, e)
	}
	return out
}

// hpc returns so many rigid jobs, about as the batch jobs of a cluster.
func hpc(n, nodes int, gap time.Duration, seed uint64) []workload.Rigid {
	rng := rand.New(rand.NewPCG(seed, 98))
	var out []workload.Rigid
	at := 0.0
	for i := range n {
		run := roundMilli(rng.ExpFloat64() * 3000e9)
		out = append(out, workload.Rigid{ID: int64(i + 1), User: -1, Submit: job.Time(roundMilli(at)), Nodes: min(nodes, 1<<rng.IntN(6)),
			Run: run, Request: max(time.Second, roundMilli(float64(run)*(0.9+rng.Float64())))})
		at += rng.ExpFloat64() * float64(gap)
	}
	return out
}

func meanTurnaround(outs []Outcome) float64 {
	sum := 0.0
	for i := range outs {
		sum += outs[i].Turnaround()
	}
	return sum / float64(max(1, len(outs)))
}
