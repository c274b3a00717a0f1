package contention

import (
	"math"
	"slices"
)

const (
	rounds = 64    // largest number of iterations over the levels; a few usually suffice
	same   = 1e-12 // relative difference of sums that count as equal
	near   = 1e-6  // relative change of a level that counts as converged
	full   = 1e-9  // fraction of a resource that may be free when it counts as fully used
)

// share computes the speed of each flow.
//
// The speed of a flow is the minimum of its limit and, over its resources, of level/demand. The
// level of a resource is the value at which the resource is just fully used, or +Inf. Levels depend
// on each other: a flow that its disk slows down leaves cores to others. So share computes each
// level in turn from the latest values of the others, until all have converged. With two scarce
// resources this always converges, because the amount that one leaves to the other changes
// monotonically. With more it usually does. Afterwards shrink reduces all speeds if a resource is
// overused, and fill gives what remains to the flows that can use it.
func (n *Node) share() {
	others := -1.0
	for _, f := range n.flows {
		if f.Demand[Disk] > 0 {
			others++
		}
	}
	n.present = n.capacity
	n.present[Disk] /= 1 + float64(n.loss*max(0, others))
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

// fits sets the speeds of all flows to their limits and reports whether the capacity suffices for
// that.
func (n *Node) fits() bool {
	for _, f := range n.flows {
		f.speed = f.Limit
	}
	for r, sum := range n.load() {
		if sum > n.present[r]*(1+same) {
			return false
		}
	}
	return true
}

// but returns the speed of a flow under the levels of all resources except one.
func (f *Flow) but(level Rates, except Resource) float64 {
	speed := f.Limit
	for r, d := range f.Demand {
		if d > 0 && Resource(r) != except && d*speed > level[r] {
			speed = level[r] / d
		}
	}
	return speed
}

// levels computes the level of each resource from the levels of the others, and reports whether one
// has changed.
func (n *Node) levels(level *Rates) (moved bool) {
	for r := range Resources {
		n.wants = n.wants[:0]
		for _, f := range n.flows {
			if d := f.Demand[r]; d > 0 {
				n.wants = append(n.wants, d*f.but(*level, r))
			}
		}
		l := waterline(n.present[r], n.wants)
		moved = moved || l != level[r] && !(math.Abs(l-level[r]) <= near*l)
		level[r] = l
	}
	return moved
}

// waterline returns the level at which the wants, each cut to the level, add up to the capacity, or
// +Inf if all wants can be met. It sorts wants.
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

// shrink reduces the speeds of all flows by the factor by which the scarcest resource is overused.
func (n *Node) shrink() {
	over := 1.0
	for r, sum := range n.load() {
		if sum > n.present[r] {
			over = max(over, sum/n.present[r])
		}
	}
	for _, f := range n.flows {
		f.speed /= over
	}
}

// load returns the use of each resource by the flows.
func (n *Node) load() (sum Rates) {
	for _, f := range n.flows {
		for r, d := range f.Demand {
			sum[r] += float64(d * f.speed)
		}
	}
	return sum
}

// fill raises the speeds of the flows that no fully used resource limits, in proportion to their
// limits, until there are no such flows.
func (n *Node) fill() {
	for range int(Resources) + len(n.flows) { // each iteration fills a resource or brings a flow to its limit
		used, more := n.load(), Rates{}
		step := math.Inf(1)
		n.growing = n.growing[:0]
		for _, f := range n.flows {
			if !f.grows(n.present, used) {
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
				step = min(step, (n.present[r]-used[r])/more[r])
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
