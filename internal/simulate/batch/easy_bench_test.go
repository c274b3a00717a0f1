package batch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/job"
)

func BenchmarkEASYTrace(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy Policy
		exact  bool
	}{{"exact", EASY, true}, {"user", EASY, false}, {"sjbf", EASYSJBF, false}} {
		b.Run(c.name, func(b *testing.B) {
			jobs := sdsc(b, c.exact)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				Replay(128, c.policy, jobs)
			}
			b.ReportMetric(float64(len(jobs)*b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// BenchmarkEASYQueue measures the end of a job, the pass over the queue and the arrival of the jobs
// that replace those that started, with a constant queue length.
func BenchmarkEASYQueue(b *testing.B) {
	for _, p := range []Policy{EASY, EASYSJBF} {
		for _, nodes := range []int{128, 10000} {
			for _, n := range []int{100, 1000, 10000} {
				b.Run(fmt.Sprintf("%s/nodes=%d/waiting=%d", p, nodes, n), func(b *testing.B) {
					q := newQueue(nodes, p, n, false)
					for range 5 * n { // to approach the steady state
						q.event()
					}
					b.ReportAllocs()
					for b.Loop() {
						q.event()
					}
				})
			}
		}
	}
}

// queue is a batch system with a constant number of waiting jobs.
type queue struct {
	sys    *System
	random *rand.Rand
	runs   []time.Duration // by ID
	exact  bool            // jobs run as long as they request
	ends   heap[job.Time]
	ids    []ID
}

func newQueue(nodes int, p Policy, waiting int, exact bool) *queue {
	q := &queue{sys: New(nodes, p), exact: exact, random: rand.New(rand.NewPCG(1, 2))}
	for range waiting {
		q.arrive(0)
	}
	for q.start(0); len(q.ids) > 0; q.start(0) {
		for range q.ids {
			q.arrive(0)
		}
	}
	return q
}

// arrive submits a job. Small and short jobs are more frequent, and run times are 5 to 100 % of the
// requested time.
func (q *queue) arrive(now job.Time) {
	nodes := 1 + int(float64(q.sys.Nodes())*q.random.Float64()*q.random.Float64()*q.random.Float64())
	limit := time.Minute + time.Duration(q.random.Float64()*q.random.Float64()*float64(24*time.Hour))
	id := ID(len(q.runs))
	run := time.Duration(float64(limit) * (0.05 + 0.95*q.random.Float64()))
	if q.exact {
		run = limit
	}
	q.runs = append(q.runs, run)
	q.sys.Submit(now, id, min(nodes, q.sys.Nodes()), limit)
}

func (q *queue) event() {
	now := q.ends[0].key
	q.sys.End(now, ID(q.ends.pop()))
	for q.start(now); len(q.ids) > 0; q.start(now) {
		for range q.ids {
			q.arrive(now)
		}
	}
}

func (q *queue) start(now job.Time) {
	q.ids = q.sys.Start(now, q.ids[:0])
	for _, id := range q.ids {
		q.ends.push(now.Add(q.runs[id]), int32(id))
	}
}
