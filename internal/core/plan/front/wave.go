package front

import (
	"math"

	"berth/internal/core/predict/rented"
)

// slots returns how many tasks of the phase machines compute at once.
func (m *Model) slots(counts []int) (sum float64) {
	for i, n := range counts {
		sum += float64(n * m.kinds[i].Slots)
	}
	return sum
}

// oneWave reports whether all tasks of a phase begin at once on so many slots. A bag alone is predicted as if tasks waited, whose model is of
// many tasks.
func (m *Model) oneWave(slots float64) bool {
	return m.follows && m.bag.Tail && float64(m.bag.Tasks) <= slots
}

// singleWave returns what a phase takes whose tasks begin at once, on the slots that are ready first: the longest of so many log-normal times, each
// slot's to the power of the probability that it has a task. It is no less than begun, so that the bounds of what machines begin hold.
func (m *Model) singleWave(counts []int, before, simple float64) spent {
	var sum rented.Sum
	tasks, boot := make([]float64, len(counts)), 0.0
	for _, i := range m.byBoot {
		if k := &m.kinds[i]; counts[i] > 0 && sum.Machines < m.bag.Tasks {
			sum.Add(counts[i]*k.Slots, k.rate/float64(k.Slots), k.transfer)
			tasks[i], boot = float64(counts[i]*k.Slots), k.boot
		}
	}
	busy := float64(m.bag.Tasks) / float64(sum.Machines)
	for i := range tasks {
		tasks[i] *= busy
	}
	longest := m.longest(tasks)
	slowed := longest / (&rented.Sum{Machines: m.bag.Tasks, Rate: sum.Rate * busy, Moving: sum.Moving * busy}).Contend(m.server, m.bag.Spread).Slowed
	start, _ := m.contention(counts)
	log := m.logSpread()
	return spent{
		makespan: math.Max(math.Max(0, boot-before)+slowed, m.phaseBegun(counts, start, before)),
		simple:   math.Max(math.Max(0, boot-simple)+longest, m.phaseBegun(counts, alone, simple)),
		variance: slowed * slowed * log * log * varies(float64(m.bag.Tasks)), full: slowed,
	}
}

// shortestWave returns a lower bound of what a phase takes whose tasks begin at once on no more than those machines: as if the fastest had a
// task each.
func (p *part) shortestWave(high []int) float64 {
	tasks, left := make([]float64, len(high)), float64(p.bag.Tasks)
	for _, i := range p.fastest {
		tasks[i] = min(left, float64(high[i]*p.kinds[i].Slots))
		left -= tasks[i]
	}
	if left > 0 {
		return math.Inf(1)
	}
	return p.longest(tasks) * (1 - 2*precision)
}

// precision is the largest relative error of the longest task's time.
const precision = 1e-4

// longest returns the mean of the longest task's time, of so many tasks on the machines of each kind: exp of Blom's score of the greatest of n
// normal values, which is a median of log-normal ones, with half of their variance added.
func (m *Model) longest(tasks []float64) float64 {
	n, log := float64(m.bag.Tasks), m.logSpread()
	target := n * math.Log((n-0.375)/(n+0.25))
	low, up := math.Inf(1), 0.0
	for i, x := range tasks {
		if x > 0 {
			low, up = math.Min(low, m.cycle(i)), math.Max(up, m.cycle(i)*math.Exp(6*log))
		}
	}
	for low *= math.Exp(-log); up/low > 1+precision; {
		at := math.Sqrt(low * up)
		done := 0.0
		for i, x := range tasks {
			if x > 0 {
				done += x * math.Log(m.within(i, at))
			}
		}
		if done < target {
			low = at
		} else {
			up = at
		}
	}
	return up * math.Exp(log*log*varies(n)/2)
}

// within returns the probability that a task on a slot of kind i takes at most that many seconds.
func (m *Model) within(i int, seconds float64) float64 {
	log := math.Max(m.logSpread(), 1e-6)
	return math.Erfc(-(math.Log(seconds/m.cycle(i))/log+log/2)/math.Sqrt2) / 2
}

// logSpread returns the standard deviation of the logarithm of task times.
func (m *Model) logSpread() float64 { return math.Sqrt(math.Log1p(m.bag.Spread * m.bag.Spread)) }

// varies returns the variance of the greatest of n normal values, to within a tenth up to thirty of them.
func varies(n float64) float64 { return math.Pow(n, -0.45) }
