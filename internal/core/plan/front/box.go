package front

import (
	"math"
	"slices"

	"berth/internal/core/predict/rented"
)

// box is all configurations with low[i] to high[i] machines of each kind i, and what is known of those whose makespan
// is in the slice and that no known point dominates.
type box struct {
	low, high []int
	phases    []bounds
	least     float64 // cost, lower bound
	price     float64 // marginal cost of the work
}

// bounds is what is known of a phase of these configurations.
type bounds struct {
	start rented.Start // upper bounds
	tail  float64      // seconds, lower bound; where all tasks begin at once, of the whole phase
	share float64      // the part of the time that the phase is taken to have, see begin
	least float64      // tasks/s without contention, lower bound
	most  float64      // the same, upper bound
	slots float64      // upper bound
	wave  bool         // all tasks begin at once

	served  float64 // part of the server's capacity that is used with contention, upper bound
	limited float64 // seconds for which the server is taken to be the limit, see begin
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

// allConfigurations returns the box of all configurations.
func (s *search) allConfigurations() *box {
	b := &box{low: make([]int, len(s.kinds)), high: make([]int, len(s.kinds))}
	for i := range s.kinds {
		b.high[i] = s.kinds[i].Limit
	}
	for at := range s.parts {
		share := 1 / float64(len(s.parts))
		if s.whole != nil { // as in the slice before
			share = s.whole.phases[at].share
		}
		b.phases = append(b.phases, bounds{start: alone, share: share, most: s.parts[at].rate, slots: math.Inf(1), served: 1})
	}
	return b
}

// known returns the sums of what is known of all phases.
func (b *box) known() (sum bounds) {
	for i := range b.phases {
		sum.tail += b.phases[i].tail
		sum.start.Slowed += b.phases[i].start.Slowed
	}
	return sum
}

// clone returns a box that shares nothing with this one.
func (b *box) clone() *box {
	c := *b
	c.low, c.high, c.phases = slices.Clone(b.low), slices.Clone(b.high), slices.Clone(b.phases)
	return &c
}
