package sched

import "math/bits"

// IndexSet is a set of indices, of nodes or of tasks.
type IndexSet []uint64

// Add adds an index.
func (s *IndexSet) Add(i int) {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	(*s)[i/64] |= 1 << (i % 64)
}

// AddRange adds the indices from first to last.
func (s *IndexSet) AddRange(first, last int) {
	for w := first / 64; w <= last/64; w++ {
		if w >= len(*s) {
			*s = append(*s, make([]uint64, last/64+1-len(*s))...)
		}
		(*s)[w] |= ^uint64(0) << max(0, first-64*w) & (^uint64(0) >> max(0, 64*w+63-last))
	}
}

// Has reports whether the index is in the set.
func (s IndexSet) Has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// Remove removes an index.
func (s IndexSet) Remove(i int) {
	if i/64 < len(s) {
		s[i/64] &^= 1 << (i % 64)
	}
}

// From returns the least index of the set that is at least i, −1 if there is none.
func (s IndexSet) From(i int) int {
	for ; i < 64*len(s); i += 64 - i%64 {
		if left := s[i/64] >> (i % 64); left != 0 {
			return i + bits.TrailingZeros64(left)
		}
	}
	return -1
}

// All calls f with each index, in ascending order.
func (s IndexSet) All(f func(i int)) {
	for i := s.From(0); i >= 0; i = s.From(i + 1) {
		f(i)
	}
}
