package sched

// NodeSet is a set of indices of nodes.
type NodeSet []uint64

// Add adds an index.
func (s *NodeSet) Add(i int) {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	(*s)[i/64] |= 1 << (i % 64)
}

// Has reports whether the index is in the set.
func (s NodeSet) Has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// Remove removes an index.
func (s NodeSet) Remove(i int) {
	if i/64 < len(s) {
		s[i/64] &^= 1 << (i % 64)
	}
}

// All calls f with each index, in ascending order.
func (s NodeSet) All(f func(i int)) {
	for w, bits := range s {
		for b := 0; bits != 0; b, bits = b+1, bits>>1 {
			if bits&1 != 0 {
				f(w*64 + b)
			}
		}
	}
}
