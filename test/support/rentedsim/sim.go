// Package rentedsim simulates machines that do the tasks of a bag and share a data server: what the models of
// internal/predict/rented and internal/plan/front are held against.
package rentedsim

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// System is machines and a bag. Times are means in seconds; each task draws its share of both from a log-normal distribution.
type System struct {
	Compute  []float64 // by machine
	Transfer []float64 // by machine, for the data of a mean task, when it has the server to itself; above 0
	Server   float64   // that the server needs for the data of a mean task at full capacity
	Spread   float64   // standard deviation of times over their mean
	Tasks    int
	Rng      *rand.Rand
}

// run is a simulation under way.
type run struct {
	*System
	now   float64
	left  []float64 // share of a mean task's data that the machine has yet to move; 0: it moves none
	count int       // machines that move data
	busy  events    // machines that compute
	began int

	slowest []int // machines, those with the lowest rates of their own first
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

// draw returns a log-normal value of that mean.
func (s *System) draw(mean float64) float64 {
	sigma := math.Sqrt(math.Log1p(s.Spread * s.Spread))
	return mean * math.Exp(sigma*s.Rng.NormFloat64()-sigma*sigma/2)
}

// share returns the share of the server, in tasks' data a second, that no machine gets more of: all of its capacity is used as
// long as machines can take it, and those whose own rate is lower leave the rest to the others (max-min fairness). In eq. 2 of
// the paper, too, the machines together get all of the capacity.
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

// begin has machine k begin its next task, if there is one.
func (r *run) begin(k int) {
	if r.began < r.Tasks {
		r.began++
		r.left[k] = r.draw(1)
		r.count++
	}
}

// Makespan runs the bag once and returns how many seconds it took.
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

// step goes on to the next moment at which a machine has moved its data or computed.
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
