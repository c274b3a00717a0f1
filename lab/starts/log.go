package starts

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/replay"
)

// log is a log as a batch system with EASY backfilling has run it.
type log struct {
	nodes  int
	jobs   []workload.Rigid // in the order of submission
	starts []job.Time
	ended  []int // jobs in the order of their ends
}

func replayed(nodes int, jobs []workload.Rigid) *log {
	l := &log{nodes: nodes, jobs: jobs, starts: replay.Run(nodes, batch.EASY, jobs)}
	for i := range jobs {
		l.ended = append(l.ended, i)
	}
	slices.SortStableFunc(l.ended, func(a, b int) int { return cmp.Compare(l.end(a), l.end(b)) })
	return l
}

func (l *log) run(i int) time.Duration { return min(l.jobs[i].Run, l.jobs[i].Request) }
func (l *log) end(i int) job.Time      { return l.starts[i].Add(l.run(i)) }
func (l *log) wait(i int) time.Duration {
	return l.starts[i].Sub(l.jobs[i].Submit)
}

func (l *log) job(i int) starts.Job {
	j := &l.jobs[i]
	return starts.Job{User: int32(j.User), Nodes: int32(j.Nodes), Limit: j.Request}
}

// moment is what is known when a job is submitted, and what will come.
type moment struct {
	log              *log
	at               int // the job
	queue            starts.Queue
	running, waiting []int
	history          starts.History
}

// moment returns the queue in which job i is the next one.
func (l *log) moment(i int) *moment {
	now := l.jobs[i].Submit
	m := &moment{log: l, at: i, queue: starts.Queue{Now: now, Nodes: l.nodes}}
	for k := range i {
		switch {
		case l.starts[k] > now:
			m.waiting = append(m.waiting, k)
			m.queue.Waiting = append(m.queue.Waiting, l.job(k))
		case l.end(k) > now:
			m.running = append(m.running, k)
			m.queue.Running = append(m.queue.Running, starts.Running{Job: l.job(k), Start: l.starts[k]})
		}
	}
	m.history = l.history(i)
	return m
}

// history returns what was seen until job i comes.
func (l *log) history(i int) starts.History {
	now := l.jobs[i].Submit
	h := starts.History{Since: l.jobs[0].Submit}
	from := now.Add(-starts.Kept)
	first, _ := slices.BinarySearchFunc(l.ended, from, func(k int, t job.Time) int { return cmp.Compare(l.end(k), t) })
	for _, k := range l.ended[first:] {
		if l.end(k) > now {
			break
		}
		h.Ended = append(h.Ended, starts.Ended{Job: l.job(k), At: l.end(k), Run: l.run(k)})
	}
	first, _ = slices.BinarySearchFunc(l.jobs, from, func(j workload.Rigid, t job.Time) int { return cmp.Compare(j.Submit, t) })
	for k := first; k < i; k++ {
		h.Arrived = append(h.Arrived, starts.Arrived{Job: l.job(k), At: l.jobs[k].Submit})
	}
	h.Trim(now)
	return h
}

// Running, Waiting and Arrival make a moment the Future that came.
func (m *moment) Running(i int) time.Duration { return m.log.run(m.running[i]) }

// Waiting implements starts.Future.
func (m *moment) Waiting(i int) time.Duration { return m.log.run(m.waiting[i]) }

// Arrival implements starts.Future.
func (m *moment) Arrival(k int) (at job.Time, j starts.Job, run time.Duration, ok bool) {
	k += m.at + 1
	if k >= len(m.log.jobs) {
		return 0, starts.Job{}, 0, false
	}
	return m.log.jobs[k].Submit, m.log.job(k), m.log.run(k), true
}
