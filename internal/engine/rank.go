package engine

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"berth/internal/job"
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

// foresee sets what a plan says that tasks take on average, where it says so.
func (j *jobState) foresee(t job.TaskTimes) {
	for i, d := range t.Means() {
		if d > 0 {
			j.spans[i].planned = d
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

// rankOf returns the rank of the job, as it is, among those of the pool. It is a function of the
// state of the job and of the pool, so replayed records give the same line.
func (p *pool) rankOf(j *jobState) job.Time {
	if !p.shortest {
		return 0
	}
	left := j.unstarted()
	return sched.Rank(max(j.submitted, j.resumed), p.ageing, left[:]...)
}

// rerank finds the job's place anew after anything about it changed, and its queues' places in
// their classes. Mostly nothing else follows. The pool is looked at again only where another
// queue comes to the head of a class, or the job passes another and that matters (pool.passed).
// That costs the logarithm of the number of jobs, and a look at each class.
func (e *Engine) rerank(j *jobState) {
	p := j.pool
	was := j.place
	if j.place.Rank = p.rankOf(j); j.place == was {
		return
	}
	passed := p.passed(j, was)
	for i := range j.queues {
		if q := &j.queues[i]; q.class != nil {
			head := q.class.line[0]
			heap.Fix(&q.class.line, q.pos)
			passed = passed || q.class.line[0] != head
		}
	}
	if passed {
		p.turned = true
		e.mark(p)
	}
}

// passed reports whether the job, whose place was that, passed another and something may start
// or be made room for because of it: the head of a class; as the head of a class, a job whose
// reduces shuffle, which count against its own only while it is behind them; as the job that
// a node is kept for, one that runs there, whose room later claims may use or not.
func (p *pool) passed(j *jobState, was sched.Place) bool {
	if p.heldJob == j && p.held != nil && slices.ContainsFunc(p.held.live, func(a *attempt) bool { return j.passed(a.job, was) }) {
		return true
	}
	for _, c := range p.classes {
		head := c.line[0].job
		if j.passed(head, was) {
			return true
		}
		if head == j && slices.ContainsFunc(p.shufflers, func(k *jobState) bool { return j.passed(k, was) }) {
			return true
		}
	}
	return false
}

// passed reports whether the job, whose place was that, came before or fell behind the other.
func (j *jobState) passed(k *jobState, was sched.Place) bool {
	return j != k && k.place.Before(was) != k.place.Before(j.place)
}

// turn takes in that another job has come to the head of a class, or one has passed such a
// job, since the last pass: the node that is kept for one may be free for another now, and
// shuffles count no more against reduces that go before them.
func (e *Engine) turn(p *pool, freed []*node) []*node {
	if !p.turned {
		return freed
	}
	p.turned = false
	for _, c := range p.classes {
		if c.key.kind == job.ReduceTask && p.shortest {
			c.blocked = false
		}
	}
	if p.held != nil {
		freed = append(freed, p.held)
	}
	return freed
}

// before tells which jobs with something to start go first, and why.
func (x *explanation) before() {
	reasons := []Reason{{Kind: EarlierJobs}, {Kind: ShorterJobs}, {Kind: AgedJobs}}
	left := work(x.j)
	for _, k := range x.j.pool.active {
		r := &reasons[0]
		switch {
		case !k.place.Before(x.j.place) || !k.active() || k.queues[0].class == nil && k.queues[1].class == nil:
			continue
		case !k.pool.shortest:
		case work(k) < left:
			r = &reasons[1]
		default:
			r = &reasons[2]
		}
		r.Jobs = append(r.Jobs, k.work.ID)
	}
	for _, r := range reasons {
		if len(r.Jobs) > 0 {
			x.add(r)
		}
	}
}

// work returns the core-seconds of the job that are yet to begin.
func work(j *jobState) float64 {
	left := j.unstarted()
	return left[0].Work() + left[1].Work()
}
