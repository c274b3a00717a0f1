package predict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	replications = 128 // simulated runs; the 95th percentile then rests on six of them
	tailTasks    = 256 // tasks of a stage that are placed one by one, at least …
	tailWaves    = 4   // … and at least so many a slot
)

// Quantiles returns the completion times, in seconds, that the shares qs of runs
// keep within. Where Bounds takes the tasks to average what they averaged before,
// this draws each task's duration from the measured ones and places it on the slot
// that is free first, over and over. The same seed gives the same answer.
//
// In a stage of many tasks all but the last few waves only keep every slot busy:
// their total is drawn from the normal distribution it tends to, and only the rest
// is placed task by task, so that the cost does not grow with the number of tasks.
func Quantiles(inv Invariants, shape Shape, seed uint64, qs ...float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a simulation, not a secret
	mapTimes, reduceTimes := newSampler(inv.Map), newSampler(inv.Reduce)
	first, other := newSampler(inv.FirstShuffle), newSampler(inv.OtherShuffle)
	runs := make([]float64, replications)
	for i := range runs {
		runs[i] = makespan(rng, shape.Maps, shape.MapSlots, task{rest: mapTimes}) +
			makespan(rng, shape.Reduces, shape.ReduceSlots, task{first: first, other: other, rest: reduceTimes})
	}
	slices.Sort(runs)
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = runs[int(min(max(q, 0), 1)*float64(replications-1)+0.5)]
	}
	return out
}

// task draws the duration of a task: one part that depends on whether the task is
// in the first wave, and one that does not.
type task struct{ first, other, rest sampler }

func (t task) draw(rng *rand.Rand, firstWave bool) float64 {
	if firstWave {
		return t.first.draw(rng) + t.rest.draw(rng)
	}
	return t.other.draw(rng) + t.rest.draw(rng)
}

// bulk draws the total duration of n tasks that are not in the first wave.
func (t task) bulk(rng *rand.Rand, n int) float64 {
	mean := t.other.mean + t.rest.mean
	sd := math.Hypot(t.other.sd, t.rest.sd)
	return max(0, float64(n)*mean+math.Sqrt(float64(n))*sd*rng.NormFloat64())
}

// makespan places n tasks on the slots, each on the one that is free first, and
// returns when the last ends.
func makespan(rng *rand.Rand, n int, s Slots, t task) float64 {
	q := newSlotQueue(s)
	if n <= 0 || len(q) == 0 {
		return 0
	}
	wave := min(n, len(q))
	for range wave {
		q.place(t.draw(rng, true))
	}
	n -= wave
	if tail := max(tailTasks, tailWaves*len(q)); n > tail {
		busy := t.bulk(rng, n-tail) / s.totals().speed
		for i := range q {
			q[i].free += busy
		}
		n = tail
	}
	for range n {
		q.place(t.draw(rng, false))
	}
	return q.last()
}

// slotQueue is a heap of slots by when they are free, the faster ones first.
type slotQueue []slot

type slot struct{ free, speed float64 }

func newSlotQueue(s Slots) slotQueue {
	var q slotQueue
	for _, g := range s {
		for range g.Count {
			q = append(q, slot{speed: g.Speed})
		}
	}
	slices.SortFunc(q, func(a, b slot) int { return cmp.Compare(b.speed, a.speed) })
	return q
}

// place puts a task on the slot that is free first.
func (q slotQueue) place(seconds float64) {
	q[0].free += seconds / q[0].speed
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(q) && q[child].before(q[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

func (s slot) before(o slot) bool {
	return s.free < o.free || s.free == o.free && s.speed > o.speed
}

// last returns when the last slot is free.
func (q slotQueue) last() float64 {
	end := 0.0
	for _, s := range q {
		end = max(end, s.free)
	}
	return end
}

// sampler draws durations as a sketch has them.
type sampler struct {
	upto     []int64 // cumulative counts of values
	values   []float64
	mean, sd float64
	guide    []int32 // of n: which value the search for n<<shift ends with; it is begun there
	shift    int
}

// guideLength is up to how many entries a guide has.
const guideLength = 1 << 10

func newSampler(inv Invariant) sampler {
	var s sampler
	if inv.Sketch == nil || inv.Sketch.Count == 0 {
		return s
	}
	h, n, sum := &inv.Sketch.Histogram, int64(0), 0.0
	add := func(count int64, value float64) {
		if count > 0 {
			value = min(max(value, inv.Sketch.Min), inv.Sketch.Max)
			n += count
			sum += float64(count) * value
			s.upto = append(s.upto, n)
			s.values = append(s.values, value)
		}
	}
	add(h.zero, 0)
	for i, c := range h.counts {
		add(c, middleOf(h.base+i))
	}
	// The middles of the buckets need not have the mean of the durations; a sum of
	// many draws shall.
	scale := inv.Scale * ratio(inv.Sketch.Sum, sum)
	for i := range s.values {
		s.values[i] *= scale
	}
	s.mean, s.sd = inv.Scale*inv.Sketch.Mean(), inv.Scale*inv.Sketch.StdDev()
	for n>>s.shift >= guideLength {
		s.shift++
	}
	for k, i := int64(0), int32(0); k < n; k += 1 << s.shift {
		for s.upto[i] <= k {
			i++
		}
		s.guide = append(s.guide, i)
	}
	return s
}

func (s sampler) draw(rng *rand.Rand) float64 {
	if len(s.upto) == 0 {
		return 0
	}
	n := rng.Int64N(s.upto[len(s.upto)-1])
	i := s.guide[n>>s.shift]
	for s.upto[i] <= n {
		i++
	}
	return s.values[i]
}
