package starts

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
	"pgregory.net/rapid"
)

// TestReservations: in a queue whose run times are known, a request starts when it starts by the definition of backfilling with so many
// reservations, beside times that are reserved for others: whenever a job ends, all jobs that wait are planned anew, the highest priority
// first, each at the first instant at which its nodes are free by limits for as long as it may run.
func TestReservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		q, k := &Queue{Nodes: 1 + rng.IntN(12), Depth: rapid.IntRange(-1, deepest).Draw(t, "depth")}, known{}
		some := func() (Job, time.Duration) {
			limit := time.Duration(1+rng.IntN(100))*time.Second + time.Duration(rng.IntN(1e9)) // no two events at one instant
			return Job{Nodes: int32(1 + rng.IntN(q.Nodes)), Limit: limit}, max(1, time.Duration(rng.Float64()*float64(limit)))
		}
		if rng.IntN(3) == 0 {
			from := job.Time(1 + rng.IntN(200e9))
			q.Closed = []Closed{{From: from, To: from + job.Time(1+rng.IntN(100e9)), Nodes: int32(1 + rng.IntN(q.Nodes))}}
		}
		for free := q.Nodes; free > 0 && rng.IntN(6) > 0; {
			j, run := some()
			j.Nodes = min(j.Nodes, int32(free))
			if fits := len(q.Closed) == 0 || q.Closed[0].From > job.Time(j.Limit); fits {
				q.Running, k.running = append(q.Running, Running{Job: j}), append(k.running, run)
				free -= int(j.Nodes)
			}
		}
		for range rng.IntN(deepest - 1) {
			j, run := some()
			q.Waiting, k.waiting = append(q.Waiting, j), append(k.waiting, run)
		}
		mine, _ := some()
		if got, want := Follow(q, k).Start(int(mine.Nodes), mine.Limit), plainStart(q, k, mine); got != want {
			t.Fatalf("%d nodes for %v start after %v, by definition after %v: %+v %+v", mine.Nodes, mine.Limit, time.Duration(got), time.Duration(want), q, k)
		}
	})
}

// plainStart returns when a request starts behind a queue, by the definition.
func plainStart(q *Queue, k known, mine Job) job.Time {
	type of struct {
		Job
		end, limit job.Time
		run        time.Duration
	}
	var runs, waits []of
	for i, r := range q.Running {
		runs = append(runs, of{r.Job, job.Time(k.running[i]), job.Time(r.Limit), 0})
	}
	for i, w := range q.Waiting {
		waits = append(waits, of{Job: w, run: k.waiting[i]})
	}
	waits = append(waits, of{Job: mine, run: -1})
	for now := job.Time(0); ; {
		line, kept, next := timeline.New(now, q.Nodes), 0, timeline.Never
		for _, r := range runs {
			line.Add(now, r.limit, -int(r.Nodes))
		}
		for _, c := range q.Closed {
			line.Add(c.From, c.To, -int(c.Nodes))
			for _, at := range []job.Time{c.From, c.To} {
				if at > now {
					next = min(next, at)
				}
			}
		}
		for i := 0; i < len(waits); i++ {
			w := waits[i]
			at, ok := line.EarliestFit(now, int(w.Nodes), w.Limit)
			switch {
			case ok && at == now && w.run < 0:
				return now
			case ok && at == now:
				w.end, w.limit = now.Add(w.run), now.Add(w.Limit)
				runs = append(runs, w)
				waits = slices.Delete(waits, i, i+1)
				i--
			case ok && kept < q.depth():
				kept++
			default:
				continue
			}
			line.Add(at, at.Add(w.Limit), -int(w.Nodes))
		}
		for _, r := range runs {
			next = min(next, r.end)
		}
		if next == timeline.Never {
			return next
		}
		now = next
		runs = slices.DeleteFunc(runs, func(r of) bool { return r.end <= now })
	}
}
