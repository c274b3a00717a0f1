package front

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/core/predict/rented"
)

// Model predicts cost and makespan of a bag, or of a job of several phases, on configurations of some types.
type Model struct {
	bag    Bag
	kinds  []kind // in the given order
	byBoot []int  // kinds in the order of their boot times
	grid   rented.Grid
	server float64 // seconds a task

	phases  []*Model // this one and those that follow it, each of which begins when the one before is done
	follows bool     // it is one of several phases
}

// Point is a configuration with its prediction.
type Point struct {
	Counts   []int          `json:"-"`           // machines of each type
	Cost     float64        `json:"cost"`        // in the currency of the catalogue
	Makespan float64        `json:"makespan_s"`  // from the request for machines until all tasks are done, on average
	Low      float64        `json:"low_s"`       // 10 % of such bags take no longer
	Up       float64        `json:"up_s"`        // 90 % of such bags take no longer
	Simple   float64        `json:"simple_s"`    // the makespan as if the data server had no limit
	Machines map[string]int `json:"machines"`    // how many machines, by type
	Use      float64        `json:"server_use"`  // used fraction of the data server's capacity while all machines have tasks, 0 to 1
	Rate     float64        `json:"tasks_per_s"` // tasks that end per second while all machines have tasks
}

// NewModel returns the model of a bag on machines of those types.
func NewModel(b Bag, types []Type) *Model {
	m := &Model{bag: b, server: b.serverTime()}
	m.phases = []*Model{m}
	shortest, longest := math.Inf(1), 0.0
	for _, t := range types {
		k := b.newKind(t)
		cycle := float64(k.Slots) / k.rate
		shortest, longest = min(shortest, cycle), max(longest, cycle)
		m.kinds = append(m.kinds, k)
		m.byBoot = append(m.byBoot, len(m.byBoot))
	}
	slices.SortStableFunc(m.byBoot, func(i, j int) int { return cmp.Compare(m.kinds[i].boot, m.kinds[j].boot) })
	if !b.Tail {
		return m
	}
	m.grid = rented.NewGrid(shortest, longest, b.Spread)
	for i := range m.kinds {
		k := &m.kinds[i]
		k.logs = m.grid.Logs(rented.Residual{Mean: float64(k.Slots) / k.rate, Spread: b.Spread})
		for j := range k.logs {
			k.logs[j] *= float64(k.Slots)
		}
	}
	return m
}

// Then adds a phase, whose tasks begin when all tasks of the phases before are done. Its model is of the same types of machines, with the
// times of its own tasks.
func (m *Model) Then(next *Model) {
	m.phases = append(m.phases, next)
	m.follows, next.follows = true, true
}

// Evaluate predicts cost and makespan of a configuration of at least one machine.
func (m *Model) Evaluate(counts []int) Point {
	p := Point{Counts: slices.Clone(counts)}
	tasks, served, full, square := 0.0, 0.0, 0.0, 0.0 // full: seconds in which all machines have tasks
	for _, f := range m.phases {
		n := float64(f.bag.Tasks)
		var one spent
		if f.oneWave(f.slots(counts)) {
			one = f.singleWave(counts, p.Makespan, p.Simple)
		} else {
			one = f.waves(counts, p.Makespan, p.Simple)
		}
		p.Makespan, p.Simple, square = p.Makespan+one.makespan, p.Simple+one.simple, square+one.variance
		tasks, served, full = tasks+n, served+n*f.server, full+one.full
	}
	p.Rate, p.Use = tasks/full, min(1, served/full)
	p.Cost = m.cost(counts, p.Makespan)
	half := 1.2816 * math.Sqrt(square) // the 90 % quantile of a normal distribution
	p.Low, p.Up = max(0, p.Makespan-half), p.Makespan+half
	return p
}

// spent is what a phase takes, in seconds.
type spent struct {
	makespan, simple, variance float64
	full                       float64 // while all machines have tasks
}

// waves returns what the phase takes where tasks wait. The machines have been requested so many seconds before, by the model and by the simple
// estimate.
func (m *Model) waves(counts []int, before, simple float64) spent {
	start, rate := m.contention(counts)
	tail, variance := m.tailMoments(counts)
	n := float64(m.bag.Tasks)
	full := n / (start.Slowed * rate)
	spread := m.bag.Spread * full / math.Sqrt(n)
	return spent{m.phaseBegun(counts, start, before) + tail, m.phaseBegun(counts, alone, simple) + tail, spread*spread + variance, full}
}

// contention returns the effect of contention on a configuration, and its rate without contention.
func (m *Model) contention(counts []int) (start rented.Start, rate float64) {
	var sum rented.Sum
	for i, n := range counts {
		if k := &m.kinds[i]; n > 0 {
			sum.Add(n*k.Slots, k.rate/float64(k.Slots), k.transfer)
		}
	}
	return sum.Contend(m.server, m.bag.Spread), sum.Rate
}

// alone is a start without contention, which bounds all others from below.
var alone = rented.Start{Slowed: 1, Credit: 1}

// cost returns the price of the machines and of the moved data.
func (m *Model) cost(counts []int, makespan float64) float64 {
	cost := m.movedPrice()
	for i, n := range counts {
		if n > 0 {
			cost += float64(n) * m.kinds[i].Bill(makespan)
		}
	}
	return cost
}

// movedPrice returns the price of moving the data of all phases.
func (m *Model) movedPrice() (sum float64) {
	for _, f := range m.phases {
		sum += float64(f.bag.Tasks) * f.bag.Bytes * f.bag.Transfer
	}
	return sum
}

// phaseBegun returns after how many seconds the phase's last task has begun (with the tail) or the last one is done (without): the first time t
// at which Slowed·Σ n_k·(rate_k·(t − boot_k) + Credit·credit_k) equals the number of tasks, summed over the machines that are ready. The
// machines have been requested so many seconds before.
func (m *Model) phaseBegun(counts []int, start rented.Start, before float64) float64 {
	need := float64(m.bag.Tasks) / start.Slowed
	rate, offset, at := 0.0, 0.0, math.Inf(1)
	for _, i := range m.byBoot {
		k, n := &m.kinds[i], float64(counts[i])
		if n == 0 {
			continue
		}
		boot := max(0, k.boot-before)
		if boot >= at {
			break
		}
		rate += n * k.rate
		offset += n * (k.rate*boot - start.Credit*k.credit)
		at = max(boot, (need+offset)/rate)
	}
	return at
}

// tailMoments returns mean and variance of the time from the start of the last task until all are done.
func (m *Model) tailMoments(counts []int) (mean, variance float64) {
	if !m.bag.Tail {
		return 0, 0
	}
	logs := make([]float64, len(m.grid))
	for i, n := range counts {
		m.addLogs(logs, i, n)
	}
	return m.grid.Longest(logs)
}

// addLogs adds n machines of kind i to logs.
func (m *Model) addLogs(logs []float64, i, n int) {
	if n == 0 || !m.bag.Tail {
		return
	}
	for j, l := range m.kinds[i].logs {
		logs[j] += float64(n) * l
	}
}
