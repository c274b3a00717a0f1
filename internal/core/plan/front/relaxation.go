package front

import (
	"math"
	"slices"
)

// measure is a value of a machine of each kind, and the kinds in the order of that value for a task that they begin.
type measure struct {
	value []float64
	order []int
}

// measure returns a value of the machines of each kind.
func (s *search) measure(value func(i int) float64) (m measure) {
	for i := range s.kinds {
		m.value = append(m.value, value(i))
		m.order = append(m.order, i)
	}
	s.sort(&m)
	return m
}

// sort puts the kinds in the order of their values for a task that they begin. It is nearly theirs when the box before was as large.
func (s *search) sort(m *measure) {
	less := func(i, j int) bool {
		if s.begun[i] <= 0 || s.begun[j] <= 0 {
			return s.begun[i] > 0 && s.begun[j] <= 0
		}
		return m.value[i]*s.begun[j] < m.value[j]*s.begun[i]
	}
	for last := range m.order {
		for d := last; d > 0 && less(m.order[d], m.order[d-1]); d-- {
			m.order[d], m.order[d-1] = m.order[d-1], m.order[d]
		}
	}
}

// boundShares sets which part of the work a machine of each kind does at most; all of it is 1.
//
// In phase p, which takes T_p seconds without its tail, kind k does y_k = φ·n_k·r_pk tasks/s, and all together do no more than the server
// can, C_p. The machines that are ready begin N_p ≤ Σ y_k·(T_p + e_pk) tasks, e_pk the credit in seconds less the time to boot. As
// Σ y_k ≤ C_p, N'_p = N_p − μ_p·C_p ≤ Σ y_k·(T_p − μ_p + e_pk) for any μ_p ≥ 0: for μ_p seconds the server is the limit, and the machines
// are for the rest. From N_p ≤ C_p·(T_p + E_p) with the highest e_pk, E_p, it follows that T_p ≥ N_p/C_p − E_p: a machine that boots
// sooner is ready, and its term counts even if it is negative. Terms of others count where they are positive.
//
// With x_p = T_p − μ_p + E_p and X_p ≥ x_p the right side is at most φ·x_p·R_p, R_p = Σ n_k·r_pk·(X_p − E_p + e_pk)/X_p, so that
// x_p ≥ N'_p/(φ·R_p). This is convex in R_p, and at least 2·t_p − t_p²·φ·R_p/N'_p for any t_p. The sum of all x_p is at most S, so that
// Σ_k n_k·Σ_p t_p²·φ·R_pk/N'_p ≥ S for t_p whose sum is S: one linear condition, which is exact for one phase. X_p is what the others leave,
// which take N'_q/(φ·R_q) at least, with the highest R_q of the box.
func (s *search) boundShares(b *box) {
	for at := range s.parts {
		p, known := &s.parts[at], &b.phases[at]
		p.credit = math.Inf(-1)
		for i := range p.kinds {
			k := &p.kinds[i]
			p.ahead[i] = known.start.Credit * k.credit / k.rate
			if at == 0 { // later phases as if the machines were ready
				p.ahead[i] -= k.boot
			}
			if b.high[i] > 0 {
				p.credit = max(p.credit, p.ahead[i])
			}
		}
		p.tasks, p.ready = float64(p.bag.Tasks), 0
		if p.server > 0 {
			p.ready = p.tasks*p.server/known.served - p.credit
			p.tasks = max(p.tasks-known.limited*known.served/p.server, 1e-4*p.tasks)
		}
		p.limited = (float64(p.bag.Tasks) - p.tasks) * p.server / known.served
	}
	s.boundTails(b)
}

// boundTails does it for the tails that are known. Where all tasks of a phase begin at once, its time is known and its condition is Σ n_k·slots_k ≥
// tasks; a sum of such conditions, each of them for a share of the work, is a condition again.
func (s *search) boundTails(b *box) {
	clear(s.begun)
	sum, least, limited, waiting := s.up, 0.0, 0.0, 0.0
	for at := range s.parts {
		p, known := &s.parts[at], &b.phases[at]
		sum -= known.tail
		if known.wave {
			continue
		}
		waiting += known.share
		p.least = p.tasks / known.start.Slowed / known.most
		sum, least, limited = sum+p.credit, least+p.least, limited+p.limited
	}
	if sum-limited < least*(1-1e-9) {
		return
	}
	for at := range s.parts {
		p, known := &s.parts[at], &b.phases[at]
		if known.wave {
			for i, slots := range p.slots.value {
				s.begun[i] += known.share * slots / float64(p.bag.Tasks)
			}
			continue
		}
		longest := max(0, sum-limited-least) + p.least
		t := known.share/waiting*sum - p.limited
		weight := t * t * waiting / (sum - limited) / p.tasks * known.start.Slowed / longest
		for i := range p.kinds {
			boot, seconds := p.kinds[i].boot, longest-p.credit+p.ahead[i]
			if seconds > 0 && (at > 0 || boot < longest-p.credit+p.limited) || seconds < 0 && boot < p.ready*(1-1e-9) {
				s.begun[i] += weight * p.kinds[i].rate * seconds
			}
		}
	}
}

// sumAtLeast returns a lower bound of the sum of a value over all configurations in the box that do all of the work, and the
// Lagrange multiplier that gives it: +Inf where there is none.
func (s *search) sumAtLeast(b *box, m *measure) (sum, price float64) {
	const tiny = 1e-9
	left := 1.0
	for i, n := range b.low {
		left -= float64(n) * s.begun[i]
	}
	s.sort(m)
	for _, i := range m.order {
		if left <= tiny {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && s.begun[i] > 0 {
			price = max(price, m.value[i]/s.begun[i])
			left -= float64(n) * s.begun[i]
		}
	}
	if left > tiny {
		return math.Inf(1), price
	}
	sum = price
	for i, v := range m.value {
		if v -= price * s.begun[i]; v > 0 {
			sum += float64(b.low[i]) * v
		} else {
			sum += float64(b.high[i]) * v
		}
	}
	return sum, price
}

// sumAtMost returns an upper bound of the sum of a value over all configurations in the box that do all of the work and cost no more than
// that. With the price of the work these have Σ n_k·r_k ≤ money − price, r_k = cost_k − price·begun_k, so that for any t ≥ 0 the sum is
// at most t·(money − price) + Σ n_k·(value_k − t·r_k). It is least at a t where one of the terms is 0.
func (s *search) sumAtMost(b *box, value []float64, money float64) float64 {
	at := func(t float64) (sum float64) {
		if t > 0 {
			sum = t * (money - b.price)
		}
		for i, v := range value {
			v -= t * (s.costs.value[i] - b.price*s.begun[i])
			sum += max(float64(b.low[i])*v, float64(b.high[i])*v)
		}
		return sum
	}
	best := at(0)
	if math.IsInf(money, 1) {
		return best
	}
	for i, v := range value {
		cost, begun := s.costs.value[i], b.price*s.begun[i]
		if t := v / (cost - begun); b.high[i] > b.low[i] && t > 0 && math.Abs(cost-begun) > 1e-4*(cost+math.Abs(begun)) { // not by rounding
			best = min(best, at(t))
		}
	}
	return best
}

// balance chooses which parts of the time the phases are taken to have, so that the bound of the cost is highest or nearly so: it makes that
// of one phase larger or smaller, by smaller and smaller factors, while that raises the bound, which has one peak.
func (s *search) balance(b *box, sum, price float64) (float64, float64) {
	for at := range len(s.parts) - 1 {
		for step := 1.3; step > 1.02; step = math.Sqrt(step) {
			for _, factor := range []float64{step, 1 / step} {
				for range mostGiven {
					s.give(b, at, factor)
					again, other := s.sumAtLeast(b, &s.costs)
					if again <= sum {
						s.give(b, at, 1/factor)
						break
					}
					sum, price = again, other
				}
			}
		}
	}
	return sum, price
}

// mostGiven is how often a share is made larger or smaller by the same factor.
const mostGiven = 20

// leastShare is the least share of a phase: with none at all its condition would say nothing.
const leastShare = 1e-9

// give multiplies the time that a phase is taken to have, in relation to the other phases, by a factor.
func (s *search) give(b *box, at int, factor float64) {
	b.phases[at].share *= factor
	sum := 0.0
	for i := range b.phases {
		b.phases[i].share = max(b.phases[i].share, leastShare)
		sum += b.phases[i].share
	}
	for i := range b.phases {
		b.phases[i].share /= sum
	}
	s.boundTails(b)
}

// fraction returns the cheapest fractional configuration of the box that does all of the work, rounded up.
func (s *search) fraction(b *box) []int {
	counts := slices.Clone(b.low)
	left := 1.0
	for i, n := range b.low {
		left -= float64(n) * s.begun[i]
	}
	for _, i := range s.costs.order {
		if left <= 0 {
			break
		}
		if n := b.high[i] - b.low[i]; n > 0 && s.begun[i] > 0 {
			m := min(n, int(math.Ceil(left/s.begun[i])))
			counts[i] += m
			left -= float64(m) * s.begun[i]
		}
	}
	return counts
}
