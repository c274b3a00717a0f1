package sim

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/test/support/seeds"
)

// crowded returns jobs of a cluster that is busy, whose limits are up to ten times as long as they run, and a tenth as many bags of 32 to 256
// tasks of about ten minutes.
func crowded(seed uint64, nodes, jobs int) (rigid []workload.Rigid, bags []workload.Elastic) {
	rng := rand.New(rand.NewPCG(seed, 61))
	at := 0.0
	for i := range jobs {
		run := time.Duration(rng.ExpFloat64()*float64(time.Hour)) + time.Minute
		rigid = append(rigid, workload.Rigid{ID: int64(i + 1), User: -1, Submit: job.Time(at), Nodes: min(nodes, 1<<rng.IntN(6)),
			Run: run, Request: time.Duration(float64(run) * (1 + 9*rng.Float64()*rng.Float64()))})
		at += rng.ExpFloat64() * float64(time.Hour) * 10.5 / float64(nodes) / 0.85
	}
	for i := range jobs / 10 {
		e := workload.Elastic{ID: int64(i + 1), User: int64(i + 1), App: "bag", Submit: job.Time((float64(i) + rng.Float64()) * at / float64(jobs/10))}
		for range 32 << rng.IntN(4) {
			e.Maps = append(e.Maps, time.Duration((0.7+0.6*rng.Float64())*float64(10*time.Minute)))
		}
		bags = append(bags, e)
	}
	return rigid, bags
}

// exchanging runs crowded jobs with or without exchanges of waiting requests.
func exchanging(t *testing.T, policy batch.Policy, seed uint64, nodes, jobs int, exchange bool) *Result {
	rigid, bags := crowded(seed, nodes, jobs)
	r, err := Run(context.Background(), Config{Cluster: Cluster{Nodes: nodes, MaxTime: 24 * time.Hour}, Policy: policy, Seed: seed, Rigid: rigid, Elastic: bags,
		Adaptor: Adaptor{Way: Berth, History: true, Exchange: exchange}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExchangePays: with exchanges of requests that wait, bags on a busy cluster are done sooner on average where nodes are reserved for one
// waiting job, no later where they are for all (nearly nothing is exchanged there), and the jobs of others no later.
func TestExchangePays(t *testing.T) {
	if os.Getenv(seeds.Var) == "" {
		t.Skipf("a draw takes six seconds of processor time and says little alone: it runs if %s is set, as make soak does", seeds.Var)
	}
	const nodes, jobs = 64, 300
	for policy, draws := range map[batch.Policy]uint64{batch.EASY: 12, batch.CBF: 12} {
		var bags, others [2]float64
		requests := [2]int{}
		for seed := range draws {
			var of [2]float64
			for k, exchange := range []bool{false, true} {
				r := exchanging(t, policy, seed, nodes, jobs, exchange)
				of[k] = meanTurnaround(r.Elastic)
				bags[k], others[k] = bags[k]+of[k], others[k]+meanTurnaround(r.Rigid)
				for i := range r.Elastic {
					requests[k] += r.Elastic[i].Allocs
				}
			}
			t.Logf("%v, seed %d: %.0f s, with exchanges %.0f s (%+.1f %%)", policy, seed, of[0], of[1], 100*(of[1]/of[0]-1))
		}
		t.Logf("%v: bags %+.1f %%, others %+.1f %%, %d requests and %d", policy, 100*(bags[1]/bags[0]-1), 100*(others[1]/others[0]-1), requests[0], requests[1])
		if bags[1] > bags[0] || others[1] > 1.01*others[0] || policy == batch.EASY && requests[1] == requests[0] {
			t.Errorf("%v: bags take %v, others %v, with %v requests", policy, bags, others, requests)
		}
	}
}
