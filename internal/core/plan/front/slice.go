package front

import (
	"cmp"
	"math"
	"slices"
)

const (
	// coarse and finest are the largest and the least relative width of a slice.
	coarse, finest = 0.05, 2e-4
	// maxSteps is how many steps a slice is searched before it is cut into two.
	maxSteps = 2000
	// rounds is the largest number of iterations that tighten the bound of the contention.
	rounds = 40
)

// slice is a range of makespans, [low, up), and the bounds that hold for all configurations with such a makespan.
type slice struct {
	low, up float64
	costs   []float64 // by kind: the least cost of a machine
	need    float64   // least number of tasks that the machines begin without contention
	tail    float64   // seconds, lower bound
	price   float64   // the Lagrange multiplier: marginal cost of a task
	byCost  []int     // kinds, those first whose machines have the least cost for a task
}

// span returns a range that contains the makespans of all configurations; 0 and 0 if there is none.
func (s *search) span() (low, up float64) {
	limits := make([]int, len(s.kinds))
	last, boot, shortest := 0.0, 0.0, math.Inf(1)
	for i := range s.kinds {
		limits[i] = s.kinds[i].Limit
		if limits[i] == 0 {
			continue
		}
		one := make([]int, len(s.kinds))
		one[i] = 1
		last = math.Max(last, s.Evaluate(one).Makespan)
		boot = math.Max(boot, s.kinds[i].boot)
		shortest = math.Min(shortest, s.cycle(i))
	}
	if last == 0 {
		return 0, 0
	}
	for p, f := range s.phases {
		low += f.begun(limits, alone, float64(p)*boot) // later phases as if all machines were ready
	}
	return math.Max(low, shortest/1000), 4 * (last + boot + s.tails(limits))
}

// cut returns the end of a slice: up, or the instant before it at which another unit of time begins to be paid.
func (s *search) cut(low, up float64) float64 {
	const beyond = 1.5e-9 // Bill counts 1e-9 units as rounding
	for i := range s.kinds {
		unit := s.kinds[i].Unit
		if next := (math.Floor(low/unit+1-beyond) + beyond) * unit; next > low && next < up && next-low > 1e-7*low && unit > 1e-2*low {
			up = next
		}
	}
	return up
}

// begins returns an upper bound of the tasks that a machine of kind i begins in that many seconds.
func (m *Model) begins(i int, seconds float64) float64 {
	k := &m.kinds[i]
	if seconds <= k.boot {
		return 0
	}
	return k.rate*(seconds-k.boot) + k.credit
}

// newSlice returns a slice; ok is false where no configuration is as fast. tail is a lower bound of the tail.
func (s *search) newSlice(low, up, tail float64) (c slice, ok bool) {
	c = slice{low: low, up: up, need: float64(s.bag.Tasks)}
	for i := range s.kinds {
		c.costs = append(c.costs, s.kinds[i].Bill(low))
	}
	c.tail = tail
	for range rounds { // a longer tail leaves less time, which needs more machines, whose tail is longer
		if !s.contend(&c) {
			return c, false
		}
		before := c.tail
		if c.tail, ok = s.leastTail(&c); !ok {
			return c, false
		}
		if c.tail <= before*1.001 {
			break
		}
	}
	c.byCost = s.sorted(func(i int) float64 { return c.costs[i] / s.begins(i, up-c.tail) })
	_, ok = s.fill(c.byCost, &c, func(i int) float64 {
		c.price = c.costs[i] / s.begins(i, up-c.tail)
		return c.costs[i]
	})
	return c, ok
}

// contend raises c.need by the least contention that is possible. It returns false where no configuration suffices.
// The lowest rate that suffices has the least contention.
func (s *search) contend(c *slice) bool {
	for range rounds {
		byRate := s.sorted(func(i int) float64 { return s.kinds[i].rate / s.begins(i, c.up-c.tail) })
		rate, ok := s.fill(byRate, c, func(i int) float64 { return s.kinds[i].rate })
		if !ok {
			return false
		}
		need := float64(s.bag.Tasks) / s.atBest(rate)
		if need <= c.need*(1+1e-6) {
			return true
		}
		c.need = need
	}
	return true
}

// leastTail returns a lower bound of the tail of all configurations that begin enough tasks in the slice, and false
// where there is none. At each instant of the grid it uses the fractional set of machines that is most likely to be
// done.
func (s *search) leastTail(c *slice) (tail float64, ok bool) {
	if !s.bag.Tail {
		return 0, true
	}
	best := make([]float64, len(s.grid))
	for j := range s.grid {
		order := s.sorted(func(i int) float64 { return -s.kinds[i].logs[j] / s.begins(i, c.up-c.tail) })
		if best[j], ok = s.fill(order, c, func(i int) float64 { return s.kinds[i].logs[j] }); !ok {
			return 0, false
		}
	}
	tail, _ = s.grid.Longest(best)
	return math.Max(c.tail, tail*(1-1e-9)), true
}

// sorted returns the kinds in ascending order of a key.
func (s *search) sorted(key func(i int) float64) []int {
	order := slices.Clone(s.order)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key(i), key(j)) })
	return order
}

// fill adds machines of one kind after another, in that order and in fractions if need be, until they begin enough
// tasks in the slice. It returns the sum of their values, and false where all machines are too few.
func (s *search) fill(order []int, c *slice, value func(i int) float64) (sum float64, ok bool) {
	left := c.need
	for _, i := range order {
		each := s.begins(i, c.up-c.tail)
		if each == 0 || s.kinds[i].Limit == 0 {
			continue
		}
		n := math.Min(float64(s.kinds[i].Limit), left/each)
		sum += n * value(i)
		left -= n * each
		if left <= 1e-9*c.need {
			return sum, true
		}
	}
	return sum, false
}

// atBest returns an upper bound of the fraction of the rate (tasks/s without contention) that the machines reach
// together: they are no faster than the server. The bound holds for any number of machines, although the throughput
// at one rate first falls with their number and then grows.
func (s *search) atBest(rate float64) float64 {
	return 1 / math.Max(1, s.server*rate)
}

// seed evaluates configurations near the least cost in a slice: as many machines as there are of the kinds with the
// least cost per task, and one other kind for the remaining tasks.
func (s *search) seed(c *slice) {
	counts := make([]int, len(s.kinds))
	left, seconds := c.need, c.up-c.tail
	order := s.sorted(func(i int) float64 { return c.costs[i] / s.begins(i, seconds) })
	for at, i := range order {
		for _, last := range order[at:] {
			if each := s.begins(last, seconds); each > 0 && left <= each*float64(s.kinds[last].Limit) {
				counts[last] = int(math.Ceil(left / each))
				s.found.add(s.Evaluate(counts))
				counts[last] = 0
			}
		}
		each := s.begins(i, seconds)
		if each > 0 {
			counts[i] = min(s.kinds[i].Limit, int(left/each))
			left -= float64(counts[i]) * each
		}
	}
}

// bound returns a lower bound of the cost of all configurations whose first counts are the ones chosen so far and
// whose makespan is in the slice; +Inf where there is none. See bounds.
func (s *search) bound(depth int, spent, tail float64) float64 {
	least, most := s.bounds(depth, spent, tail, s.now.price)
	if most < s.now.need*(1-1e-9) {
		return math.Inf(1)
	}
	return least
}

// bounds returns that bound, whether there is such a configuration or not, and an upper bound of the tasks that all
// machines begin. spent is a lower bound of the cost of the chosen machines, and tail is no longer than their tail.
// For any price ≥ 0 of a task the cost of the machines is at least price·need + Σ (cost_k − price·begun_k)·n_k, each
// term at its least.
func (s *search) bounds(depth int, spent, tail, price float64) (least, most float64) {
	seconds := s.now.up - tail
	least = s.moved() + spent + price*s.now.need
	for d, i := range s.order {
		n := s.counts[i]
		if d >= depth {
			n = s.kinds[i].Limit
		}
		if n == 0 {
			continue
		}
		begun := s.begins(i, seconds)
		most += float64(n) * begun
		each := -price * begun
		if d >= depth {
			if each += s.now.costs[i]; each > 0 {
				continue
			}
		}
		least += float64(n) * each
	}
	return least, most
}

// restPrice returns the marginal cost of a task of those that the first chosen kinds leave to the others: the price with which bounds is
// highest, or nearly so.
func (s *search) restPrice(depth int, tail float64) (price float64) {
	left, seconds := s.now.need, s.now.up-tail
	for _, i := range s.order[:depth] {
		left -= float64(s.counts[i]) * s.begins(i, seconds)
	}
	for _, i := range s.now.byCost {
		if left <= 0 {
			return price
		}
		begun := s.begins(i, seconds)
		if s.place[i] < depth || begun == 0 || s.kinds[i].Limit == 0 {
			continue
		}
		price = s.now.costs[i] / begun
		left -= float64(s.kinds[i].Limit) * begun
	}
	return price
}
