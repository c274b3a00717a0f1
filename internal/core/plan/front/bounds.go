package front

import (
	"math"

	"berth/internal/core/predict/rented"
)

// machines tightens the bounds of the machines of a phase and of their contention at the server. It returns false where no machines suffice.
func (s *search) machines(b *box, at int, money float64) bool {
	p, known := &s.parts[at], &b.phases[at]
	rate, _ := s.sumAtLeast(b, &p.rates)
	if math.IsInf(rate, 1) {
		return false
	}
	chosen := 0.0
	for i, n := range b.low {
		chosen += float64(n) * p.rates.value[i]
	}
	known.least = max(known.least, max(rate, chosen)*(1-1e-9))
	known.most = min(known.most, s.sumAtMost(b, p.rates.value, money)*(1+1e-9))
	known.slots = min(known.slots, s.sumAtMost(b, p.slots.value, money)*(1+1e-9))
	few, _ := s.sumAtLeast(b, &p.slots)
	few = max(1, few*(1-1e-9))
	known.wave = known.wave || p.oneWave(known.slots) && few > float64(p.bag.Tasks-1)
	if few > known.slots || known.wave && !p.oneWave(known.slots) {
		return false
	}
	return known.least <= known.most && (p.server == 0 || s.contention(b, p, known, few, money)) // else no configuration costs so little
}

// contention tightens the bounds of the contention at the server.
func (s *search) contention(b *box, p *part, known *bounds, few, money float64) bool {
	share, least, streams := 0.0, 1.0, 0.0
	for i := range p.kinds {
		if b.high[i] > 0 {
			moves := p.moving[i] / p.slots.value[i]
			share, least = max(share, moves), min(least, moves)
			streams = max(streams, p.kinds[i].transfer/p.server)
		}
	}
	moving := s.sumAtMost(b, p.moving, money)
	share = min(share, moving/few)
	if moving < 0 {
		return false
	}
	use := p.server * known.least
	if use > 0 {
		streams = min(streams, moving/use*(1+1e-9))
	}
	bound, served := rented.AtBest(rented.Range{Few: int(few), Many: int(math.Ceil(known.slots)), LeastShare: min(least, share), MostShare: share,
		MostStreams: streams, LeastUse: use, MostUse: p.server * known.most}, p.bag.Spread)
	known.start.Slowed = min(known.start.Slowed, bound.Slowed*(1+1e-9))
	known.start.Credit = min(known.start.Credit, bound.Credit+1e-9)
	known.served = min(known.served, served*(1+1e-9))
	return true
}

// longest raises the lower bound of the tail of a phase.
func (s *search) longest(b *box, at int) bool {
	p, known := &s.parts[at], &b.phases[at]
	if known.wave {
		known.tail = max(known.tail, p.shortestWave(b.high))
		return true
	}
	if !p.bag.Tail || p.oneWave(known.slots) {
		return true
	}
	for j := len(p.instants) - 1; j >= 0; j-- {
		if j+1 < len(p.instants) && p.best[j+1] < -40 { // counts as 0, and before it, too
			p.best[j] = p.best[j+1]
			continue
		}
		l, _ := s.sumAtLeast(b, &p.instants[j])
		if math.IsInf(l, 1) {
			return false
		}
		p.best[j] = -max(0, l)
	}
	mean, _ := p.grid.Longest(p.best)
	known.tail = max(known.tail, mean*(1-1e-9))
	return true
}

// boundBox sets the bounds of a box. It returns false where no configuration in it is of use.
func (s *search) boundBox(b *box) bool {
	cutoff := s.cutoffAt(s.low)
	for round := range 6 {
		before := b.known()
		for at := range s.parts {
			s.boundShares(b)
			if round < 2 && !s.machines(b, at, cutoff-s.movedPrice()) {
				return false
			}
			s.boundShares(b)
			if !s.longest(b, at) {
				return false
			}
		}
		sum, price := s.limit(b)
		b.least, b.price = max(b.least, sum+s.movedPrice()), price
		for at := range s.parts {
			b.least = max(b.least, s.costOfUse(b, at)+s.movedPrice())
		}
		if b.least >= cutoff {
			return false
		}
		changed := s.shrink(b, cutoff-sum-s.movedPrice())
		now := b.known()
		if round > 0 && !changed && now.tail-before.tail < 1e-4*s.up && before.start.Slowed-now.start.Slowed < 1e-4 {
			break
		}
	}
	return true
}

// costOfUse returns a lower bound of the cost of machines that use the server of a phase as much as those of the box do.
func (s *search) costOfUse(b *box, at int) (sum float64) {
	if p := &s.parts[at]; p.server > 0 {
		begun := s.begun
		s.begun = p.excess
		for i, rate := range p.rates.value {
			s.begun[i] = rate / b.phases[at].least
		}
		sum, _ = s.sumAtLeast(b, &measure{s.costs.value, p.cheapest})
		s.begun = begun
	}
	return sum
}

// shrink leaves out the counts that cost more than is left: each machine more or less than the bound assumes costs its
// reduced cost.
func (s *search) shrink(b *box, left float64) (changed bool) {
	for i, v := range s.costs.value {
		v -= b.price * s.begun[i]
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

// limit chooses for how many seconds the server is taken to be the limit of each phase, so that the bound of the cost is highest or nearly
// so: it halves the part of the time that is left to the machines, or doubles it, while that raises the bound.
func (s *search) limit(b *box) (sum, price float64) {
	s.boundShares(b)
	sum, price = s.sumAtLeast(b, &s.costs)
	for at := range s.parts {
		p, known := &s.parts[at], &b.phases[at]
		if p.server == 0 {
			continue
		}
		all := float64(p.bag.Tasks) * p.server / known.served
		for _, factor := range []float64{0.5, 2} {
			for left := factor * (1 - known.limited/all); left > 1e-3 && left <= 1; left *= factor {
				before := known.limited
				known.limited = all * (1 - left)
				s.boundShares(b)
				again, other := s.sumAtLeast(b, &s.costs)
				if again <= sum {
					known.limited = before
					break
				}
				sum, price = again, other
			}
		}
	}
	s.boundShares(b)
	return s.balance(b, sum, price)
}
