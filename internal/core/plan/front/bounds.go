package front

import (
	"math"

	"berth/internal/core/predict/rented"
)

// contention tightens the bounds of the contention at the server in a phase. It returns false where no machines suffice.
func (c *cover) contention(b *box, at int, money float64) bool {
	p, known := &c.parts[at], &b.phases[at]
	rate, _ := c.least(b, &p.rates)
	few, _ := c.least(b, &p.slots)
	if math.IsInf(rate, 1) {
		return false
	}
	if p.server == 0 {
		return true
	}
	few = math.Max(1, few*(1-1e-9))
	share, least, chosen := 0.0, 1.0, 0.0
	for i := range p.kinds {
		chosen += float64(b.low[i]) * p.rates.value[i]
		if b.high[i] > 0 {
			moves := p.moving.value[i] / p.slots.value[i]
			share, least = math.Max(share, moves), math.Min(least, moves)
		}
	}
	share = math.Min(share, c.most(b, &p.moving, money)/few)
	rate = math.Max(rate, chosen)
	known.least, known.most = math.Max(known.least, p.server*rate*(1-1e-9)), math.Min(known.most, p.server*c.most(b, &p.rates, money)*(1+1e-9))
	many := math.Ceil(c.most(b, &p.slots, money) + 1e-9)
	if known.least > known.most {
		return false
	}
	bound := rented.AtBest(rented.Range{Few: int(few), Many: int(many), LeastShare: math.Min(least, share), MostShare: share,
		LeastUse: known.least, MostUse: known.most}, p.bag.Spread)
	known.start.Slowed = math.Min(known.start.Slowed, bound.Slowed*(1+1e-9))
	known.start.Credit = math.Min(known.start.Credit, bound.Credit+1e-9)
	return c.served(b, at, many) >= float64(p.bag.Tasks)*(1-1e-9)
}

// served returns an upper bound of the tasks that so many slots and the server begin in a phase in time: machines that are ready first do as much
// as they can, and all together no more than the server.
func (c *cover) served(b *box, at int, slots float64) (tasks float64) {
	p, known := &c.parts[at], &b.phases[at]
	left, credit := math.Min(1, known.start.Slowed*known.most)/p.server, 0.0
	for _, i := range p.byBoot {
		k := &p.kinds[i]
		if b.high[i] == 0 {
			continue
		}
		credit = math.Max(credit, k.credit/float64(k.Slots))
		seconds := p.longest - p.credit
		if at == 0 {
			seconds -= k.boot
		}
		rate := math.Min(left, known.start.Slowed*k.rate*float64(b.high[i]))
		tasks += rate * math.Max(0, seconds)
		left -= rate
	}
	return tasks + slots*credit*known.start.Credit*known.start.Slowed
}

// longest raises the lower bound of the tail of a phase.
func (c *cover) longest(b *box, at int) bool {
	p, known := &c.parts[at], &b.phases[at]
	if !p.bag.Tail || p.oneWave(b.high) { // a single wave is bounded by its rate alone
		return true
	}
	for j := range p.instants {
		l, _ := c.least(b, &p.instants[j])
		if math.IsInf(l, 1) {
			return false
		}
		p.best[j] = -math.Max(0, l)
	}
	mean, _ := p.grid.Longest(p.best)
	known.tail = math.Max(known.tail, mean*(1-1e-9))
	return true
}

// bound sets the bounds of a box. It returns false where no configuration in it is of use.
func (c *cover) bound(b *box) bool {
	cutoff := c.cutoffAt(c.low)
	for round := range 6 {
		before := b.known()
		for at := range c.parts {
			c.begin(b)
			if round < 2 && !c.contention(b, at, cutoff-c.moved()) {
				return false
			}
			c.begin(b)
			if !c.longest(b, at) {
				return false
			}
		}
		c.begin(b)
		sum, price := c.least(b, &c.costs)
		b.least, b.price = math.Max(b.least, sum+c.moved()), price
		for at := range c.parts {
			b.least = math.Max(b.least, c.costOfUse(b, at)+c.moved())
		}
		if b.least >= cutoff {
			return false
		}
		changed := c.shrink(b, cutoff-sum-c.moved())
		now := b.known()
		if round > 0 && !changed && now.tail-before.tail < 1e-4*c.up && before.start.Slowed-now.start.Slowed < 1e-4 {
			break
		}
		c.shares(b, c.fraction(b))
	}
	return true
}

// costOfUse returns a lower bound of the cost of machines that use the server of a phase as much as those of the box do.
func (c *cover) costOfUse(b *box, at int) (sum float64) {
	if p := &c.parts[at]; b.phases[at].least > 0 {
		begun, need := c.begun, c.need
		c.begun, c.need = p.rates.value, b.phases[at].least/p.server
		sum, _ = c.least(b, &measure{c.costs.value, p.cheapest})
		c.begun, c.need = begun, need
	}
	return sum
}

// shrink leaves out the counts that cost more than is left: each machine more or less than the bound assumes costs its
// reduced cost.
func (c *cover) shrink(b *box, left float64) (changed bool) {
	for i, v := range c.costs.value {
		v -= b.price * c.begun[i]
		if v == 0 || b.low[i] == b.high[i] {
			continue
		}
		n := math.Floor(left/math.Abs(v)*(1+1e-9) + 1e-9)
		if n >= float64(b.high[i]-b.low[i]) {
			continue
		}
		changed = true
		if v > 0 {
			b.high[i] = b.low[i] + int(n)
		} else {
			b.low[i] = b.high[i] - int(n)
		}
	}
	return changed
}
