package front

import (
	"math"
	"slices"
)

// try evaluates that configuration, and what it becomes with its own tail and contention in the place of their bounds.
func (c *cover) try(b *box) []int {
	first := c.fraction(b)
	counts := first
	for range 3 {
		if slices.Max(counts) == 0 {
			break
		}
		p := c.Evaluate(counts)
		c.found.add(p)
		if p.Makespan <= c.up {
			break
		}
		own := b.clone()
		for at := range c.parts {
			own.phases[at].start, _ = c.parts[at].start(counts)
			own.phases[at].tail, _ = c.parts[at].tail(counts)
		}
		c.begin(own)
		next := c.fraction(b)
		if slices.Equal(next, counts) {
			break
		}
		counts = next
	}
	c.begin(b)
	return first
}

// fewMachines is how many machines the configurations of a box differ by at most where cutting their counts suffices.
const fewMachines = 100

// wide returns a phase in which a large box has choices that saturate the server and choices that do not, or that saturate it very differently, −1
// for none: the bounds of all of them together are weak.
func (b *box) wide() int {
	differ := 0
	for i := range b.low {
		differ += b.high[i] - b.low[i]
	}
	if differ <= fewMachines {
		return -1
	}
	return slices.IndexFunc(b.phases, func(p bounds) bool {
		if p.least > 1.2 {
			return p.most > 1.1*p.least
		}
		return p.most > 0.8 && p.most > 1.02*p.least && !math.IsInf(p.most, 1)
	})
}

// split cuts the box into two, by the use of the server where that is wide, or at the kind whose machines lengthen the tail most.
func (c *cover) split(b *box, counts []int) (one, other *box) {
	if at := b.wide(); at >= 0 {
		one, other = b.clone(), b.clone()
		most := &one.phases[at].most
		*most *= math.Sqrt(math.Max(b.phases[at].least / *most, 0.5))
		other.phases[at].least = *most
		return one, other
	}
	at, longer := -1, 0.0
	tail := c.tails(b.low)
	scratch := slices.Clone(b.low)
	for i, n := range counts {
		if n == b.low[i] {
			continue
		}
		scratch[i] = n
		t := c.tails(scratch)
		if t -= tail; at < 0 || t > longer {
			at, longer = i, t
		}
		scratch[i] = b.low[i]
	}
	if at < 0 || longer < 1e-4*c.up {
		widest := -1.0 // machines that begin nothing in time count, too: in the model they change the contention
		for i := range counts {
			if w := float64(b.high[i]-b.low[i]) * c.begun[i]; w > widest && b.low[i] < b.high[i] {
				at, widest = i, w
			}
		}
	}
	if at < 0 {
		return nil, nil
	}
	middle := (b.low[at] + min(b.high[at], 2*counts[at])) / 2
	if b.low[at] == 0 && longer >= 1e-4*c.up {
		middle = 0
	}
	middle = max(b.low[at], min(middle, b.high[at]-1))
	one, other = b.clone(), b.clone()
	one.high[at] = middle
	other.low[at] = middle + 1
	return one, other
}

// tails returns the sum of the tails of all phases.
func (s *search) tails(counts []int) (sum float64) {
	for _, f := range s.phases {
		tail, _ := f.tail(counts)
		sum += tail
	}
	return sum
}
