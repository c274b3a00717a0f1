package starts

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/replay"
)

// known is a Future that is known.
type known struct {
	running, waiting []time.Duration
	coming           []workload.Rigid
}

func (k known) Running(i int) time.Duration { return k.running[i] }
func (k known) Waiting(i int) time.Duration { return k.waiting[i] }
func (k known) Arrival(i int) (job.Time, Job, time.Duration, bool) {
	if i >= len(k.coming) {
		return 0, Job{}, 0, false
	}
	c := &k.coming[i]
	return c.Submit, Job{Nodes: int32(c.Nodes), Limit: c.Request}, c.Run, true
}

// TestCourseIsEASY: in a queue whose run times and arrivals are known, a request starts when the batch system of the simulator
// starts it, which is another implementation of EASY backfilling, held against a third one and against oracles.
func TestCourseIsEASY(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		nodes := 1 + rng.IntN(rapid.SampledFrom([]int{4, 30, 200}).Draw(t, "nodes"))
		jobs := make([]workload.Rigid, 3+rng.IntN(150))
		at := job.Time(0)
		for i := range jobs { // no two events at one instant: their order differs
			at += job.Time(1+rng.IntN(40)) * 1e9
			limit := time.Duration(1+rng.IntN(1000))*time.Second + time.Duration(rng.IntN(1e9))
			jobs[i] = workload.Rigid{Submit: at + job.Time(rng.IntN(1e9)), Nodes: 1 + rng.IntN(nodes), Request: limit,
				Run: time.Duration(rng.Float64() * 1.1 * float64(limit))}
		}
		own := rng.IntN(len(jobs))
		starts := replay.Run(nodes, batch.EASY, jobs)
		q, k := Queue{Now: jobs[own].Submit, Nodes: nodes}, known{coming: jobs[own+1:]}
		for i := range jobs[:own] {
			j := &jobs[i]
			wants := Job{Nodes: int32(j.Nodes), Limit: j.Request}
			switch run := min(j.Run, j.Request); {
			case starts[i] > q.Now:
				q.Waiting, k.waiting = append(q.Waiting, wants), append(k.waiting, run)
			case starts[i].Add(run) > q.Now:
				q.Running, k.running = append(q.Running, Running{wants, starts[i]}), append(k.running, run)
			}
		}
		if got := Follow(&q, k).Start(jobs[own].Nodes, jobs[own].Request); got != starts[own] {
			t.Fatalf("job %d of %d starts %v after its submission, want %v", own, len(jobs), got.Sub(q.Now), starts[own].Sub(q.Now))
		}
	})
}

// TestLargerThanTheCluster: a waiting job that can never start keeps nobody waiting, and a request like that never starts.
func TestLargerThanTheCluster(t *testing.T) {
	q := &Queue{Nodes: 4, Waiting: []Job{{Nodes: 5, Limit: time.Hour}}}
	c := Follow(q, known{waiting: []time.Duration{time.Hour}})
	if at := c.Start(4, time.Hour); at != 0 {
		t.Errorf("starts at %d", at)
	}
	if at := c.Start(5, time.Hour); at != timeline.Never {
		t.Errorf("a request for 5 of 4 nodes starts at %d", at)
	}
}

// TestAgenda: the list of ends finds what a plain search finds, whatever was added and removed before.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var a agenda
		var plain []entry
		for id := range int32(600) {
			if len(plain) > 0 && rng.IntN(3) == 0 {
				k := rng.IntN(len(plain))
				a.remove(plain[k])
				plain[k] = plain[len(plain)-1]
				plain = plain[:len(plain)-1]
				continue
			}
			e := entry{job.Time(rng.IntN(200)), int32(1 + rng.IntN(8)), id}
			a.add(e)
			plain = append(plain, e)
		}
		need := 1 + rng.IntN(1500)
		at, nodes := timeline.Never, 0
		for now := range job.Time(200) {
			sum := 0
			for _, e := range plain {
				if e.at <= now {
					sum += int(e.nodes)
				}
			}
			if nodes = sum; sum >= need {
				at = now
				break
			}
		}
		if gotAt, got := a.reachedAt(need); gotAt != at || got != nodes {
			t.Fatalf("%d nodes are free at %d, then %d; want %d, %d", need, gotAt, got, at, nodes)
		}
	})
}

// TestLeastWithin: what a block notes of its jobs never exceeds the nodes of one that waits and whose limit is short enough, whatever
// jobs come and leave.
func TestLeastWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		c := &Course{nodes: 40, state: state{free: 40}}
		for range 300 {
			limit, span := time.Duration(1+rng.IntN(100)), time.Duration(1+rng.IntN(100))
			switch n := len(c.line.nodes); {
			case n == 0 || rng.IntN(2) == 0:
				c.push(Job{Nodes: int32(1 + rng.IntN(30)), Limit: limit}, 1)
			case rng.IntN(4) == 0:
				c.line.set(rng.IntN(n), gone, 0)
			case rng.IntN(4) == 0:
				c.line.set(rng.IntN(n), int32(1+rng.IntN(30)), limit)
			default:
				c.free, c.kept = rng.IntN(8), []room{{Closed: Closed{From: job.Time(span), To: timeline.Never}}}
				c.bindBounds()
				c.backfillBlock(rng.IntN(len(c.line.least)), 0, n+2, span)
			}
			for i, n := range c.line.nodes {
				if n != gone && c.line.limits[i] <= span && c.line.leastWithin(i/blockSize, span) > int(n) {
					t.Fatalf("a job of %d nodes waits within %d, at least %d are noted", n, span, c.line.leastWithin(i/blockSize, span))
				}
			}
		}
	})
}
