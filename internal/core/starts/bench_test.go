package starts

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"berth/internal/core/job"
)

// BenchmarkPlan makes 50 draws of a queue before 5,000 nodes, with 5,000 running jobs and a week of history, and asks them for
// the waits of ten requests: with a reservation for the first of the waiting jobs, and for as many as are simulated.
func BenchmarkPlan(b *testing.B) {
	for _, pending := range []int{500, 5000} {
		for _, depth := range []int{1, deepest} {
			b.Run(fmt.Sprint(pending, "/", depth), func(b *testing.B) {
				q, h := busy(5000, 5000, pending, rand.New(rand.NewPCG(3, 4)))
				q.Depth = depth
				b.ReportAllocs()
				begin := processor(b)
				for b.Loop() {
					draws := NewPast(h, q.Now).Draw(q, 50, 1)
					for n := range 10 {
						draws.Waits(8<<n, time.Duration(n+1)*time.Hour)
					}
				}
				b.ReportMetric((processor(b)-begin).Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}

// processor returns the processor time of the process, which other load on the machine lengthens less than the time that passes.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// busy returns a queue and its history: 200 users whose jobs have one node each for the most part, limits of up to a day
// of which they use parts that differ from user to user.
func busy(nodes, running, pending int, rng *rand.Rand) (*Queue, *History) {
	const now = job.Time(1e18)
	some := func() Job {
		j := Job{User: int32(rng.IntN(200)), Nodes: 1, Limit: time.Duration(1+rng.IntN(48)) * 30 * time.Minute}
		if rng.IntN(10) == 0 {
			j.Nodes = 1 << rng.IntN(9)
		}
		return j
	}
	run := func(j Job) time.Duration {
		return time.Duration(float64(j.Limit) * min(1, 0.05+rng.Float64()*float64(1+j.User%10)/8))
	}
	q, h := &Queue{Now: now, Nodes: nodes}, &History{Since: now.Add(-Kept)}
	for free := nodes; len(q.Running) < running && free > 0; {
		j := some()
		j.Nodes = min(j.Nodes, int32(max(1, free-(running-len(q.Running)))))
		q.Running = append(q.Running, Running{j, now.Add(-time.Duration(rng.Float64() * float64(run(j))))})
		free -= int(j.Nodes)
	}
	for range pending {
		q.Waiting = append(q.Waiting, some())
	}
	const past = 20_000
	for i := range past {
		at, j := h.Since.Add(Kept/past*time.Duration(i)), some()
		h.Arrived = append(h.Arrived, Arrived{Job: j, At: at})
		h.Ended = append(h.Ended, Ended{j, at, run(j)})
	}
	return q, h
}
