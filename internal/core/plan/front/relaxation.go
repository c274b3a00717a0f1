package front

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/core/predict/rented"
)

// measure is a value of a machine of each kind, and the kinds in the order of that value for a task that they begin.
type measure struct {
	value []float64
	order []int
}

// measure sorts the kinds by a value of their machines for a task.
func (c *cover) measure(value func(i int) float64) (m measure) {
	keys := make([]float64, len(c.kinds))
	for i := range c.kinds {
		v := value(i)
		m.value = append(m.value, v)
		m.order = append(m.order, i)
		keys[i] = v / c.begun[i]
		if c.begun[i] <= 0 {
			keys[i] = math.Inf(1)
		}
	}
	slices.SortStableFunc(m.order, func(i, j int) int { return cmp.Compare(keys[i], keys[j]) })
	return m
}

// begin sets how many tasks a machine of each kind begins at most, and how many are needed.
//
// In phase p, which takes T_p seconds without its tail, machines begin no more than Σ n_k·r_pk·(T_p + e_pk) tasks, e_pk the credit in seconds
// less the time to boot. With x_p = T_p + E_p, E_p the highest e_pk, and X_p ≥ x_p that is at most x_p·R_p, R_p = Σ n_k·r_pk·(X_p − E_p +
// e_pk)/X_p, so that x_p ≥ N_p/R_p. This is convex in R_p, and at least 2·t_p − t_p²·R_p/N_p for any t_p. The sum of all x_p is at most S, so
// that Σ_k n_k·Σ_p t_p²·R_pk/N_p ≥ S for t_p whose sum is S: one linear condition, which is exact for one phase.
func (c *cover) begin(b *box) {
	clear(c.begun)
	sum, least := c.up, 0.0
	c.need = 0
	for at := range c.parts {
		p, known := &c.parts[at], &b.phases[at]
		p.credit = math.Inf(-1)
		for i := range p.kinds {
			if b.high[i] > 0 {
				p.credit = math.Max(p.credit, p.ahead(at, i, known.start))
			}
		}
		sum += p.credit - known.tail
		least += p.shortest
		c.need += float64(p.bag.Tasks) / known.start.Slowed
	}
	for at := range c.parts {
		p, known := &c.parts[at], &b.phases[at]
		p.longest = sum - least + p.shortest
		if sum <= 0 || p.longest <= 0 {
			return
		}
		t := known.share * sum
		weight := t * t / float64(p.bag.Tasks) * known.start.Slowed * c.need / sum / p.longest
		for i := range p.kinds {
			if at > 0 || p.kinds[i].boot < p.longest-p.credit {
				c.begun[i] += weight * p.kinds[i].rate * math.Max(0, p.longest-p.credit+p.ahead(at, i, known.start))
			}
		}
	}
}

// ahead returns how many seconds a machine of kind i is further in phase at than its rate says.
func (p *part) ahead(at, i int, start rented.Start) float64 {
	k := &p.kinds[i]
	seconds := start.Credit * k.credit / k.rate
	if at == 0 { // later phases as if it were ready
		seconds -= k.boot
	}
	return seconds
}

// least returns a lower bound of the sum of a value over all configurations in the box that begin enough tasks, and the
// Lagrange multiplier that gives it: +Inf where there is none.
func (c *cover) least(b *box, m *measure) (sum, price float64) {
	left := c.need
	for i, n := range b.low {
		left -= float64(n) * c.begun[i]
	}
	tiny := 1e-9 * c.need
	for _, i := range m.order {
		if left <= tiny {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && c.begun[i] > 0 {
			price = math.Max(price, m.value[i]/c.begun[i])
			left -= float64(n) * c.begun[i]
		}
	}
	if left > tiny {
		return math.Inf(1), price
	}
	sum = price * c.need
	for i, v := range m.value {
		if v -= price * c.begun[i]; v > 0 {
			sum += float64(b.low[i]) * v
		} else {
			sum += float64(b.high[i]) * v
		}
	}
	return sum, price
}

// most returns an upper bound of the sum of a value over all configurations in the box that cost no more than that.
func (c *cover) most(b *box, m *measure, money float64) float64 {
	low, high, ratio := 0.0, 0.0, 0.0
	for i, v := range m.value {
		low += float64(b.low[i]) * v
		high += float64(b.high[i]) * v
		money -= float64(b.low[i]) * c.costs.value[i]
		if b.high[i] > b.low[i] {
			ratio = math.Max(ratio, v/c.costs.value[i])
		}
	}
	if math.IsInf(ratio, 1) || math.IsInf(money, 1) {
		return high
	}
	return math.Min(high, low+math.Max(0, money)*ratio)
}

// shares sets the parts of the time that the phases have with these machines.
func (c *cover) shares(b *box, counts []int) {
	if len(c.parts) == 1 {
		return
	}
	sum := 0.0
	for at := range c.parts {
		p, known := &c.parts[at], &b.phases[at]
		rate := 0.0
		for i, n := range counts {
			rate += float64(n) * p.kinds[i].rate
		}
		known.share = float64(p.bag.Tasks) / known.start.Slowed / math.Max(rate, 1e-9*p.kinds[0].rate)
		sum += known.share
	}
	for at := range b.phases {
		b.phases[at].share /= sum
	}
}

// fraction returns the cheapest fractional configuration of the box that begins enough tasks, rounded up.
func (c *cover) fraction(b *box) []int {
	counts := slices.Clone(b.low)
	left := c.need
	for i, n := range b.low {
		left -= float64(n) * c.begun[i]
	}
	for _, i := range c.costs.order {
		if left <= 0 {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && c.begun[i] > 0 {
			m := min(n, int(math.Ceil(left/c.begun[i])))
			counts[i] += m
			left -= float64(m) * c.begun[i]
		}
	}
	return counts
}
