package batch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// plainCBF is conservative backfilling whose sweeps remove and reinsert each job of the queue, as in
// the definition.
type plainCBF struct {
	*cbf // without sweeps
}

func newPlainCBF(nodes int) *System {
	s := New(nodes, CBF)
	s.policy = plainCBF{s.policy.(*cbf)}
	return s
}

func (c plainCBF) end(now job.Time, id ID) {
	e := &c.jobs[id]
	c.line.Add(now, after(e.Start, e.Limit), e.Nodes)
	for i := range c.queue {
		w := &c.queue[i]
		c.line.Add(w.at, after(w.at, w.limit), int(w.nodes))
		c.reserveEarliest(now, w)
	}
}

// play is a simple form of Replay. If arrivalsFirst is set, arrivals precede ends at the same
// instant. Ends are in the order of starts.
func play(s *System, jobs []workload.Rigid, arrivalsFirst bool) []job.Time {
	starts := make([]job.Time, len(jobs))
	var ends heap[job.Time]
	var started []ID
	arrived := 0
	arrive := func(now job.Time) {
		for ; arrived < len(jobs) && jobs[arrived].Submit == now; arrived++ {
			s.Submit(now, ID(arrived), jobs[arrived].Nodes, jobs[arrived].Request)
		}
	}
	for len(started) < len(jobs) {
		now := s.Next()
		if arrived < len(jobs) {
			now = min(now, jobs[arrived].Submit)
		}
		if len(ends) > 0 {
			now = min(now, ends[0].key)
		}
		if arrivalsFirst {
			arrive(now)
		}
		for len(ends) > 0 && ends[0].key == now {
			s.End(now, started[ends.pop()])
		}
		arrive(now)
		for _, id := range s.Start(now, nil) {
			starts[id] = now
			ends.push(now.Add(min(jobs[id].Run, jobs[id].Request)), int32(len(started)))
			started = append(started, id)
		}
	}
	return starts
}

// TestSweepsOfLongQueues compares the sweeps with those of plainCBF, for queues of hundreds of jobs.
func TestSweepsOfLongQueues(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		nodes := []int{5, 40, 130}[seed%3]
		jobs := make([]workload.Rigid, 1500)
		now := job.Time(0)
		for i := range jobs {
			if i > 700 {
				now += job.Time(random.IntN(400))
			}
			limit := time.Duration(math.Exp(7*random.Float64())) + 1
			jobs[i] = workload.Rigid{
				Submit: now, Nodes: 1 + random.IntN(1<<random.IntN(8))%nodes, Request: limit,
				Run: time.Duration(random.Float64() * 1.2 * float64(limit)),
			}
		}
		want := play(newPlainCBF(nodes), jobs, false)
		for i, at := range play(New(nodes, CBF), jobs, false) {
			if at != want[i] {
				t.Fatalf("seed %d: job %d starts at %d, want %d", seed, i, at, want[i])
			}
		}
	}
}
