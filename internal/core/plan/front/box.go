package front

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"berth/internal/core/predict/rented"
)

// fewSteps and manySteps are how many boxes are cut in a slice before it is cut, and before the narrowest is given up.
const fewSteps, manySteps = 20, 250

// box is all configurations with low[i] to high[i] machines of each kind i, and what is known of those whose makespan
// is in the slice and that no known point dominates.
type box struct {
	low, high []int
	phases    []bounds
	least     float64 // cost, lower bound
	price     float64 // marginal cost of a task
}

// bounds is what is known of a phase of these configurations.
type bounds struct {
	start rented.Start // upper bounds
	tail  float64      // seconds, lower bound
	share float64      // the part of the time that the phase is taken to have, see begin
	least float64      // use of the server without contention, lower bound
	most  float64      // the same, upper bound
}

// boxes is a heap of boxes, the one of the least bound first.
type boxes []*box

func (b boxes) Len() int           { return len(b) }
func (b boxes) Less(i, j int) bool { return b[i].least < b[j].least }
func (b boxes) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *boxes) Push(x any)        { *b = append(*b, x.(*box)) }
func (b *boxes) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}

// measure is a value of a machine of each kind, and the kinds in the order of that value for a task that they begin.
type measure struct {
	value []float64
	order []int
}

// cover is the search of a slice by boxes.
type cover struct {
	*search
	low, up float64
	whole   *box // all configurations
	costs   measure
	parts   []part    // by phase
	begun   []float64 // by kind: tasks that a machine begins at most in the present box
	need    float64   // of the present box: tasks that machines begin, without contention
}

// part is a phase in the search of a slice.
type part struct {
	*Model
	rates, slots, moving measure
	instants             []measure // by instant of the grid: −log of the probability that a machine is done
	best                 []float64 // scratch, by instant
	cheapest             []int     // kinds, those first whose machines have the least cost for their rate
	shortest             float64   // seconds that all machines together need at least, from before the first one is ready
	longest              float64   // scratch: seconds that the phase may take
	credit               float64   // scratch: seconds by which machines are further than their rate says, at most
}

// newCover returns the search of the makespans in [low, up).
func (s *search) newCover(low, up float64) *cover {
	c := &cover{search: s, low: low, up: up, begun: make([]float64, len(s.kinds))}
	for _, f := range s.phases {
		rate := 0.0
		for i := range f.kinds {
			rate += f.kinds[i].rate * float64(s.kinds[i].Limit)
		}
		c.parts = append(c.parts, part{Model: f, shortest: float64(f.bag.Tasks) / rate, best: make([]float64, len(f.grid))})
	}
	c.whole = s.all()
	for range c.parts { // the shares depend on the costs, and the costs of a task on the shares
		c.begin(c.whole)
		c.costs = c.measure(func(i int) float64 { return s.kinds[i].Bill(low) })
		c.shares(c.whole, c.fraction(c.whole))
	}
	c.begin(c.whole)
	for at := range c.parts {
		p := &c.parts[at]
		p.rates = c.measure(func(i int) float64 { return p.kinds[i].rate })
		p.slots = c.measure(func(i int) float64 { return float64(p.kinds[i].Slots) })
		p.moving = c.measure(func(i int) float64 { return p.kinds[i].rate * p.kinds[i].transfer })
		for j := range p.grid {
			p.instants = append(p.instants, c.measure(func(i int) float64 { return -p.kinds[i].logs[j] }))
		}
		p.cheapest = slices.Clone(c.costs.order)
		slices.SortStableFunc(p.cheapest, func(i, j int) int {
			return cmp.Compare(c.costs.value[i]*p.kinds[j].rate, c.costs.value[j]*p.kinds[i].rate)
		})
	}
	return c
}

// all returns the box of all configurations.
func (s *search) all() *box {
	b := &box{low: make([]int, len(s.kinds)), high: make([]int, len(s.kinds))}
	for i := range s.kinds {
		b.high[i] = s.kinds[i].Limit
	}
	for range s.phases {
		b.phases = append(b.phases, bounds{start: alone, share: 1 / float64(len(s.phases)), most: math.Inf(1)})
	}
	return b
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

// known returns the sums of what is known of all phases.
func (b *box) known() (sum bounds) {
	for i := range b.phases {
		sum.tail += b.phases[i].tail
		sum.start.Slowed += b.phases[i].start.Slowed
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

// clone returns a box that shares nothing with this one.
func (b *box) clone() *box {
	c := *b
	c.low, c.high, c.phases = slices.Clone(b.low), slices.Clone(b.high), slices.Clone(b.phases)
	return &c
}

// run searches the slice until no box is of use, and returns +Inf, or the least bound of those that are left after so many
// steps.
func (c *cover) run(steps int) (least float64) {
	var open boxes
	push := func(b *box) {
		if c.bound(b) {
			heap.Push(&open, b)
		}
	}
	push(c.whole.clone())
	for ; len(open) > 0; steps-- {
		b := open[0]
		if b.least >= c.cutoffAt(c.low) {
			break
		}
		if steps <= 0 {
			return b.least
		}
		heap.Pop(&open)
		c.begin(b)
		counts := c.try(b)
		one, other := c.split(b, counts)
		if one == nil {
			continue
		}
		push(one)
		push(other)
	}
	return math.Inf(1)
}

// cutoffAt returns the cost from which on a configuration with at least that makespan has a known point within epsilon.
func (s *search) cutoffAt(low float64) float64 {
	return s.found.cheapest(low*(1+s.epsilon)) / (1 + s.epsilon) * (1 + 1e-12)
}

// wide searches the makespans in [low, up) up to epsilon, in slices that are as wide as a few steps suffice for.
func (s *search) wide(low, up float64) {
	for low < up {
		next := up
		for {
			narrow := next/low-1 <= s.epsilon/4
			steps := fewSteps
			if narrow {
				steps = manySteps
			}
			least := s.newCover(low, next).run(steps)
			if math.IsInf(least, 1) {
				break
			}
			if narrow {
				s.giveUp(low, least)
				break
			}
			next = math.Sqrt(low * next)
		}
		low = next
	}
}

// giveUp raises s.within so that it holds for all configurations with at least that makespan and that cost.
func (s *search) giveUp(low, least float64) {
	for s.found.cheapest(low*(1+s.within)) > least*(1+s.within) {
		s.within *= 1.02
	}
}
