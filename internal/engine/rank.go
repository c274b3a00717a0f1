package engine

import (
	"container/heap"
	"fmt"
	"time"

	"berth/internal/sched"
)

// span is how long the tasks of a kind take on average; of reduces their sort and reduce,
// as a shuffle takes no core.
type span struct {
	planned time.Duration // by the plan; 0: unknown
	done    int64         // tasks measured by this run …
	took    float64       // … and the seconds that they took together
}

func (s span) String() string {
	return fmt.Sprintf("planned %v done %d took %v", s.planned, s.done, s.took)
}

// add takes in what a task took.
func (s *span) add(d time.Duration) {
	s.done++
	s.took += d.Seconds()
}

// foresee sets what a plan says that tasks take on average, where it says so. Where only
// the time is known that they keep within, that is better than nothing.
func (j *jobState) foresee(taskMean, reduceMean, taskTime, reduceTime time.Duration) {
	for i, d := range [][2]time.Duration{{taskMean, taskTime}, {reduceMean, reduceTime}} {
		switch {
		case d[0] > 0:
			j.spans[i].planned = d[0]
		case d[1] > 0:
			j.spans[i].planned = d[1]
		}
	}
}

// unstarted returns what of the job has no core yet. Reduces that shuffle have none, and
// where the output of a map is lost whose reduces have, the map is left.
func (j *jobState) unstarted() [2]sched.Unstarted {
	w := &j.work
	maps, reduces := &j.counts[0], &j.counts[1]
	left := [2]sched.Unstarted{
		{Tasks: maps.total - maps.done - maps.failed - maps.running, CPUs: w.Need.CPUs},
		{Tasks: reduces.total - reduces.done - reduces.failed - j.sorting, CPUs: w.ReduceNeed.CPUs},
	}
	for i := range left {
		s := &j.spans[i]
		left[i].Planned, left[i].Longest, left[i].Done, left[i].Took = s.planned, j.timing[i].longest, s.done, s.took
	}
	return left
}

// rank finds the job's place anew after anything about it changed, and moves its queues
// there. A rank is a function of the job's state, so replayed records give the same line.
func (e *Engine) rank(j *jobState) {
	p := j.pool
	if e.cfg.Order != sched.Shortest || p == nil {
		return
	}
	left := j.unstarted()
	rank := sched.Rank(max(j.submitted, j.resumed), left[:]...)
	if rank == j.place.Rank {
		return
	}
	j.place.Rank = rank
	for i := range j.queues {
		if q := &j.queues[i]; q.class != nil {
			heap.Fix(&q.class.line, q.pos)
		}
	}
	// A class that was looked at before in this pass may stand otherwise to others now.
	if !p.passing || len(p.classes) > 1 {
		e.mark(p)
	}
}

// before tells which jobs with something to start go first, and why.
func (x *explanation) before() {
	var first, less, older []string
	left := work(x.j)
	for _, k := range x.j.pool.active {
		switch id := string(k.work.ID); {
		case !k.place.Before(x.j.place) || !k.active() || k.queues[0].class == nil && k.queues[1].class == nil:
		case x.e.cfg.Order != sched.Shortest:
			first = append(first, id)
		case work(k) < left:
			less = append(less, id)
		default:
			older = append(older, id)
		}
	}
	if len(first) > 0 {
		x.say("before it in line: %s", some(first))
	}
	if n := len(less); n > 0 {
		x.say("%s with less left to do%s first: %s", number(n, "job"), verb(n, " go"), some(less))
	}
	if n := len(older); n > 0 {
		x.say("%s that came earlier%s first, as long waits count: %s", number(n, "job"), verb(n, " go"), some(older))
	}
}

// work returns the core-seconds of the job that are yet to begin.
func work(j *jobState) float64 {
	left := j.unstarted()
	return left[0].Work() + left[1].Work()
}
