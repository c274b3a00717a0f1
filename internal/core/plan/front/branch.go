package front

import (
	"container/heap"
	"math"
	"slices"
)

// searchSlice searches the slice until no box is of use, and returns +Inf, or the least bound of those that are left after so many
// steps.
func (s *search) searchSlice(steps int) (least float64) {
	var open boxes
	push := func(b *box) {
		if s.boundBox(b) {
			heap.Push(&open, b)
		}
	}
	push(s.whole)
	for ; len(open) > 0; steps-- {
		b := open[0]
		if b.least >= s.cutoffAt(s.low) {
			break
		}
		if steps <= 0 {
			return b.least
		}
		heap.Pop(&open)
		s.steps -= 3*len(s.parts) - 2 // as the time of a box grows
		s.boundShares(b)
		counts := s.try(b)
		if s.epsilon == 0 && s.searchDeep(b, deepSteps) {
			continue
		} else if steps == 1 {
			return b.least
		}
		s.boundShares(b)
		one, other := s.split(b, counts)
		if one == nil {
			continue
		}
		push(one)
		push(other)
	}
	return math.Inf(1)
}

// try evaluates that configuration, and what it becomes with its own tail and contention in the place of their bounds.
func (s *search) try(b *box) []int {
	first := s.fraction(b)
	counts := first
	for range 3 {
		if slices.Max(counts) == 0 {
			break
		}
		p := s.Evaluate(counts)
		s.found.add(p)
		if p.Makespan <= s.up {
			break
		}
		own := b.clone()
		for at := range s.parts {
			own.phases[at].start, _ = s.parts[at].contention(counts)
			own.phases[at].tail, _ = s.parts[at].tailMoments(counts)
		}
		s.boundShares(own)
		next := s.fraction(b)
		if slices.Equal(next, counts) {
			break
		}
		counts = next
	}
	s.boundShares(b)
	return first
}

// fewMachines is how many machines the configurations of a box differ by at most where cutting their counts suffices.
const fewMachines = 100

// wide returns a phase in which a large box has choices that use the server very differently and some that nearly saturate it, −1 for none:
// the bounds of all of them together are weak.
func (s *search) wide(b *box) int {
	differ := 0
	for i := range b.low {
		differ += b.high[i] - b.low[i]
	}
	if differ <= fewMachines {
		return -1
	}
	for at, known := range b.phases {
		if s.parts[at].server*known.most > 0.8 && known.most > 1.08*known.least {
			return at
		}
	}
	return -1
}

// split cuts the box into two: by whether all tasks of a phase begin at once, by the use of the server where that is wide, or at the kind whose
// machines lengthen the tail most.
func (s *search) split(b *box, counts []int) (one, other *box) {
	for at := range s.parts {
		if p, known := &s.parts[at], &b.phases[at]; p.oneWave(known.slots) && !known.wave {
			one, other = b.clone(), b.clone()
			one.phases[at].slots = float64(p.bag.Tasks) - 0.5
			other.phases[at].wave = true
			return one, other
		}
	}
	if at := s.wide(b); at >= 0 {
		one, other = b.clone(), b.clone()
		most := &one.phases[at].most
		*most *= math.Sqrt(max(b.phases[at].least / *most, 0.5))
		other.phases[at].least = *most
		return one, other
	}
	at, longer := -1, 0.0
	tail := s.sumOfTails(b.low)
	scratch := slices.Clone(b.low)
	for i, n := range counts {
		if n == b.low[i] {
			continue
		}
		scratch[i] = n
		t := s.sumOfTails(scratch)
		if t -= tail; at < 0 || t > longer {
			at, longer = i, t
		}
		scratch[i] = b.low[i]
	}
	if at < 0 || longer < 1e-4*s.up {
		widest := -1.0 // machines that begin nothing in time count, too: in the model they change the contention
		for i := range counts {
			if w := float64(b.high[i]-b.low[i]) * s.begun[i]; w > widest && b.low[i] < b.high[i] {
				at, widest = i, w
			}
		}
	}
	if at < 0 {
		return nil, nil
	}
	middle := (b.low[at] + min(b.high[at], 2*counts[at])) / 2
	if b.low[at] == 0 && longer >= 1e-4*s.up {
		middle = 0
	}
	middle = max(b.low[at], min(middle, b.high[at]-1))
	one, other = b.clone(), b.clone()
	one.high[at] = middle
	other.low[at] = middle + 1
	return one, other
}

// sumOfTails returns the sum of the tails of all phases.
func (s *search) sumOfTails(counts []int) (sum float64) {
	for _, f := range s.phases {
		tail, _ := f.tailMoments(counts)
		sum += tail
	}
	return sum
}
