package contention

import (
	"math"
	"slices"
)

const (
	rounds = 64    // of finding levels at most: a few mostly do
	same   = 1e-12 // share by which equal sums may differ
	near   = 1e-6  // share by which a level may move that counts as settled
	full   = 1e-9  // share of a resource that may be left when it counts as used up
)

// share finds the speed of each flow.
//
// A flow's speed is the least of its limit and, over its resources, of level/demand; the level of a resource is such
// that it is just used up, or none. Levels depend on one another: where a flow is held up by its disk it leaves
// cores to others. So they are found one after the other, each with the latest of the others, until none
// moves. With two resources in short supply that always comes to an end, as what one leaves to the other then only
// grows or only shrinks. With more it mostly does; what is then too much is taken from all alike, and what is left is
// given to those that can use it.
func (n *Node) share() {
	if n.fits() {
		return
	}
	level := Rates{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
	for range rounds {
		if !n.levels(&level) {
			break
		}
	}
	for _, f := range n.flows {
		f.speed = f.but(level, Resources)
	}
	n.shrink()
	n.fill()
}

// fits has all flows advance at their limits, and reports whether there is enough for that.
func (n *Node) fits() bool {
	for _, f := range n.flows {
		f.speed = f.Limit
	}
	for r, sum := range n.load() {
		if sum > n.capacity[r]*(1+same) {
			return false
		}
	}
	return true
}

// but returns the speed of a flow under all levels but that of one resource.
func (f *Flow) but(level Rates, except Resource) float64 {
	speed := f.Limit
	for r, d := range f.Demand {
		if d > 0 && Resource(r) != except && d*speed > level[r] {
			speed = level[r] / d
		}
	}
	return speed
}

// levels finds the level of each resource by which it is used up, the others having theirs, and reports whether
// one has moved.
func (n *Node) levels(level *Rates) (moved bool) {
	for r := range Resources {
		n.wants = n.wants[:0]
		for _, f := range n.flows {
			if d := f.Demand[r]; d > 0 {
				n.wants = append(n.wants, d*f.but(*level, r))
			}
		}
		l := waterline(n.capacity[r], n.wants)
		moved = moved || l != level[r] && !(math.Abs(l-level[r]) <= near*l)
		level[r] = l
	}
	return moved
}

// waterline returns the level of a resource above which no want is met so that the rest just are, +Inf where
// all wants are met. It sorts them.
func waterline(capacity float64, wants []float64) float64 {
	slices.Sort(wants)
	for i, w := range wants {
		if equal := capacity / float64(len(wants)-i); w > equal*(1+same) {
			return equal
		}
		capacity -= w
	}
	return math.Inf(1)
}

// shrink has all flows be slower by what the most wanted resource lacks.
func (n *Node) shrink() {
	over := 1.0
	for r, sum := range n.load() {
		if sum > n.capacity[r] {
			over = max(over, sum/n.capacity[r])
		}
	}
	for _, f := range n.flows {
		f.speed /= over
	}
}

// load returns what flows use of each resource.
func (n *Node) load() (sum Rates) {
	for _, f := range n.flows {
		for r, d := range f.Demand {
			sum[r] += float64(d * f.speed)
		}
	}
	return sum
}

// fill raises the speeds of the flows that no used-up resource holds up, all in proportion to their limits, until
// there are no such flows.
func (n *Node) fill() {
	for range int(Resources) + len(n.flows) { // each round a resource is used up or a flow is at its limit
		used, more := n.load(), Rates{}
		step := math.Inf(1)
		n.growing = n.growing[:0]
		for _, f := range n.flows {
			if !f.grows(n.capacity, used) {
				continue
			}
			n.growing = append(n.growing, f)
			step = min(step, (f.Limit-f.speed)/f.Limit)
			for r, d := range f.Demand {
				more[r] += float64(d * f.Limit)
			}
		}
		for r := range more {
			if more[r] > 0 {
				step = min(step, (n.capacity[r]-used[r])/more[r])
			}
		}
		if len(n.growing) == 0 {
			return
		}
		for _, f := range n.growing {
			f.speed = min(f.Limit, f.speed+float64(step*f.Limit))
		}
	}
}

// grows reports whether a flow could be faster.
func (f *Flow) grows(capacity, used Rates) bool {
	if f.speed >= f.Limit*(1-full) {
		return false
	}
	for r, d := range f.Demand {
		if d > 0 && used[r] >= capacity[r]*(1-full) {
			return false
		}
	}
	return true
}
