// Package rentedsim simulates machines that run the tasks of a bag and share a data server. Tests
// compare the models of internal/core/predict/rented and internal/core/plan/front with System.Makespan.
package rentedsim

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// System is machines and a bag. Times are means in seconds; each task draws factors for both from a
// log-normal distribution.
type System struct {
	Compute  []float64 // by machine
	Transfer []float64 // by machine, for the data of a mean task with the server to itself; above 0
	Server   float64   // time of the server for the data of a mean task at full capacity
	Spread   float64   // standard deviation of times, as a fraction of their mean
	Tasks    int
	Rng      *rand.Rand
}

// run is the state of a simulation.
type run struct {
	*System
	now   float64
	left  []float64 // fraction of a mean task's data that the machine still has to move; 0: it moves none
	count int       // number of machines that move data
	busy  events    // machines that compute
	began int

	slowest []int // machines in increasing order of their own rates
}

type event struct {
	at      float64
	machine int
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push and Pop are for container/heap.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop takes the last one.
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// draw returns a log-normal value with the given mean.
func (s *System) draw(mean float64) float64 {
	sigma := math.Sqrt(math.Log1p(s.Spread * s.Spread))
	return mean * math.Exp(sigma*s.Rng.NormFloat64()-sigma*sigma/2)
}

// share returns the largest part of the server's rate that a machine gets, in tasks' data a second.
// The whole capacity is used as long as machines can use it, and machines with a lower rate of their
// own leave the rest to the others (max-min fairness). In eq. 2 of the paper the machines together
// also get the whole capacity.
func (r *run) share() float64 {
	left, count := 1/r.Server, r.count
	for _, k := range r.slowest {
		if r.left[k] == 0 {
			continue
		}
		if own := 1 / r.Transfer[k]; own*float64(count) < left {
			left -= own
			count--
			continue
		}
		return left / float64(count)
	}
	return math.Inf(1)
}

// begin starts the next task on machine k, if there is one.
func (r *run) begin(k int) {
	if r.began < r.Tasks {
		r.began++
		r.left[k] = r.draw(1)
		r.count++
	}
}

// Makespan runs the bag once and returns its duration in seconds.
func (s *System) Makespan() float64 {
	r := run{System: s, left: make([]float64, len(s.Compute))}
	for k := range s.Compute {
		r.slowest = append(r.slowest, k)
		r.begin(k)
	}
	slices.SortFunc(r.slowest, func(a, b int) int { return cmp.Compare(s.Transfer[b], s.Transfer[a]) })
	for r.count > 0 || len(r.busy) > 0 {
		r.step()
	}
	return r.now
}

// step advances to the next instant at which a machine has moved its data or computed.
func (r *run) step() {
	next, who, share := math.Inf(1), -1, r.share()
	speed := func(k int) float64 { return math.Min(1/r.Transfer[k], share) }
	for k, left := range r.left {
		if left > 0 {
			if at := r.now + left/speed(k); at < next {
				next, who = at, k
			}
		}
	}
	computed := len(r.busy) > 0 && r.busy[0].at <= next
	if computed {
		next = r.busy[0].at
	}
	for k, left := range r.left {
		if left > 0 {
			r.left[k] = math.Max(left-(next-r.now)*speed(k), 1e-15)
		}
	}
	r.now = next
	if computed {
		r.begin(heap.Pop(&r.busy).(event).machine)
		return
	}
	r.left[who] = 0
	r.count--
	heap.Push(&r.busy, event{r.now + r.draw(r.Compute[who]), who})
}
