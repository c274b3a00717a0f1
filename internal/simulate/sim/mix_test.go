package sim

import (
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// mix returns n jobs of the Facebook mix, one every gap on average.
func mix(n int, gap time.Duration, seed uint64) []workload.Elastic {
	return workload.Drawn(workload.NewFacebook(workload.Facebook{Every: gap}, rand.New(rand.NewPCG(seed, 99))).Next, n, 0)
}

// hpc returns n rigid jobs similar to the batch jobs of a cluster.
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
