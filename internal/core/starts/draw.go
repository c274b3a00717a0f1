package starts

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

const day = 24 * time.Hour

// Past is a history, prepared for draws.
type Past struct {
	Jobs    int    // that have ended
	Came    []Came // the user's own last starts, the oldest first
	ratios  ratios
	arrived []Arrived
	period  time.Duration // whole days before now in which these arrived; 0: none
}

// NewPast prepares a history for draws at an instant. Arrivals are replayed once a whole day of them was seen.
func NewPast(h *History, now job.Time) *Past {
	p := &Past{Jobs: len(h.Ended), Came: h.Came, ratios: ratiosOf(h.Ended), period: min(Kept, now.Sub(h.Since)).Truncate(day)}
	p.arrived = h.Arrived[arrivedBy(h.Arrived, now.Add(-p.period)):arrivedBy(h.Arrived, now)]
	return p
}

// arrivedBy returns how many jobs arrived before an instant.
func arrivedBy(all []Arrived, at job.Time) int {
	return sort.Search(len(all), func(i int) bool { return all[i].At >= at })
}

// Draws are courses of one queue with run times and arrivals drawn from a history. One goroutine at a time may ask them.
type Draws []*Course

// Draw simulates a queue n times. The same seed gives the same draws.
func (p *Past) Draw(q *Queue, n int, seed uint64) Draws {
	s := &source{Past: p.in(q.Part), queue: q}
	s.coming = make([]pools, len(s.arrived))
	for i := range q.Running {
		s.running = append(s.running, p.ratios.like(&q.Running[i].Job, q.Now.Sub(q.Running[i].Start)))
	}
	s.limits = q.ends(nil)
	s.await()
	all, fork := make(Draws, n), &Course{}
	for i := range all {
		f := s.future(seed + uint64(i))
		all[i] = follow(q, f, s.limits, q.ends(f), all[max(0, i-1)])
		all[i].fork = fork
	}
	return all
}

// With simulates a queue that differs from the one of the draws in the jobs that wait, and in nothing else. It gives what Draw would
// give with the same number and seed.
func (all Draws) With(q *Queue) Draws {
	other, fork := make(Draws, len(all)), &Course{}
	var s source
	for i, c := range all {
		f := *c.future.(*drawn)
		if i == 0 {
			s = *f.source
			s.queue = q
			s.await()
		}
		f.source = &s
		other[i] = follow(q, &f, s.limits, c.ends, c)
		other[i].fork = fork
	}
	return other
}

// in returns the past with the arrivals of a partition only; 0: of all.
func (p *Past) in(part int32) *Past {
	if part == 0 {
		return p
	}
	only := *p
	only.arrived = nil
	for _, a := range p.arrived {
		if a.Part == part || a.Part == 0 {
			only.arrived = append(only.arrived, a)
		}
	}
	return &only
}

// source is what all draws of a queue have in common: the ratios of the jobs that are like each of its jobs.
type source struct {
	*Past
	queue                    *Queue
	running, waiting, coming []pools // of those that come: nil before the first draw of one
	limits                   []entry // ends of the running jobs
}

// await finds the ratios of the jobs that wait.
func (s *source) await() {
	s.waiting = make([]pools, len(s.queue.Waiting))
	for i := range s.waiting {
		s.waiting[i] = s.ratios.like(&s.queue.Waiting[i], 0)
	}
}

// drawn is the Future of one draw.
type drawn struct {
	*source
	seed  uint64
	first int           // index of the first arrival that is replayed
	shift time.Duration // by which the first ones are later than they were
}

func (s *source) future(seed uint64) *drawn {
	d := &drawn{source: s, seed: seed}
	if days := int(s.period / day); days > 0 {
		d.shift = time.Duration(1+int(d.uniform(ofDraw, 0)*float64(days))) * day
		d.first = arrivedBy(s.arrived, s.queue.Now.Add(-d.shift))
	}
	return d
}

// What random numbers are for.
const (
	ofDraw uint64 = iota << 32
	ofRunning
	ofWaiting
	ofArrival
	ofUser
)

// uniform returns a random number in [0, 1) for a purpose, independent of the order of calls.
func (d *drawn) uniform(purpose uint64, i int) float64 {
	g := rand.NewPCG(d.seed, purpose+uint64(uint32(i)))
	return float64(g.Uint64()>>11) / (1 << 53)
}

// alike is how many different quantiles the jobs of a user have in one draw. Jobs that a user runs at about the same time take like parts
// of their limits: if each had a quantile of its own, they would average out, and the band of a start would be too narrow.
const alike = 3

// part returns the quantile of a job among the run times of jobs like it: one of those of its user, or its own if the user is unknown. Draws
// come in pairs with the same random numbers, in the second of which all are subtracted from 1, so that the mean and the median of few draws
// vary less.
func (d *drawn) part(j *Job, purpose uint64, i int) float64 {
	pair := drawn{seed: d.seed / 2}
	u := pair.uniform(purpose, i)
	if j.User >= 0 {
		u = pair.uniform(ofUser, int(j.User)*alike+int(u*alike))
	}
	if d.seed%2 == 1 {
		return 1 - u
	}
	return u
}

// Running implements Future.
func (d *drawn) Running(i int) time.Duration {
	r := &d.queue.Running[i]
	return quantile(&d.running[i], &r.Job, d.queue.Now.Sub(r.Start), d.part(&r.Job, ofRunning, i))
}

// Waiting implements Future.
func (d *drawn) Waiting(i int) time.Duration {
	j := &d.queue.Waiting[i]
	if i >= len(d.queue.Waiting)-d.queue.Own {
		return j.Limit
	}
	return quantile(&d.waiting[i], j, 0, d.part(j, ofWaiting, i))
}

// Arrival implements Future: the arrivals of the past days from a day ago on, or from several days ago, at the same
// time of day; after the last one those of all days again.
func (d *drawn) Arrival(k int) (at job.Time, j Job, run time.Duration, ok bool) {
	if len(d.arrived) == 0 || d.period == 0 {
		return 0, Job{}, 0, false
	}
	rounds, place := (d.first+k)/len(d.arrived), (d.first+k)%len(d.arrived)
	a := &d.arrived[place]
	if d.coming[place].near == nil {
		d.coming[place] = d.ratios.like(&a.Job, 0)
	}
	run = quantile(&d.coming[place], &a.Job, 0, d.part(&a.Job, ofArrival, k))
	return a.At.Add(d.shift + time.Duration(rounds)*d.period), a.Job, run, true
}

// Waits are the times until a request starts, one for each draw.
type Waits []time.Duration

// Waits returns how long a request would wait in each draw.
func (all Draws) Waits(nodes int, limit time.Duration) Waits {
	w := all.each(func(c *Course) job.Time { return c.Start(nodes, limit) })
	slices.Sort(w)
	return w
}

// Waiting returns how long a job waits that waits already, the first being 0, in the order of the draws.
func (all Draws) Waiting(i int) Waits {
	return all.each(func(c *Course) job.Time { return c.started(i) })
}

func (all Draws) each(start func(*Course) job.Time) Waits {
	waits := make(Waits, len(all))
	for i, c := range all {
		waits[i] = timeline.Unbounded
		if at := start(c); at != timeline.Never {
			waits[i] = at.Sub(c.began)
		}
	}
	return waits
}

// Sorted returns the waits in ascending order, as quantiles need them.
func (w Waits) Sorted() Waits {
	return slices.Sorted(slices.Values(w))
}

// AtLeast returns a lower bound of the mean wait of a request, and of every one with as many nodes or more and as long a limit
// or longer. It is found without following any course further.
func (all Draws) AtLeast(nodes int, limit time.Duration) time.Duration {
	sum := 0.0
	for _, c := range all {
		at, _ := c.firstOpening(nodes, limit)
		sum += float64(at.Sub(c.began)) / float64(len(all))
	}
	return time.Duration(sum)
}

// Median returns the median.
func (w Waits) Median() time.Duration { return w.Quantile(0.5) }

// Quantile returns the wait than which a further one is shorter with probability p, between neighbours by the line through them.
func (w Waits) Quantile(p float64) time.Duration {
	x := min(max(0, p*float64(len(w)+1)-1), float64(len(w)-1))
	i := int(x)
	if i == len(w)-1 || w[i+1] == timeline.Unbounded {
		return w[i]
	}
	return w[i] + time.Duration((x-float64(i))*float64(w[i+1]-w[i]))
}

// Mean returns the mean; Unbounded if one of the draws has no start.
func (w Waits) Mean() time.Duration {
	sum := 0.0
	for _, x := range w {
		if x == timeline.Unbounded {
			return x
		}
		sum += float64(x) / float64(len(w))
	}
	return time.Duration(sum)
}
