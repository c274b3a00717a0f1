package code

// marks is a set of addresses of code, one bit each.
type marks struct {
	lo, size uint64
	bits     []uint64
}

func newMarks(lo, hi uint64) marks {
	return marks{lo: lo, size: hi - lo, bits: make([]uint64, (hi-lo+63)/64)}
}

// set marks an address if it is within the code.
func (m *marks) set(address uint64) {
	if off := address - m.lo; off < m.size {
		m.bits[off/64] |= 1 << (off % 64)
	}
}

// between reports whether an address in [from, to) is marked.
func (m *marks) between(from, to uint64) bool {
	for a := from; a < to; a++ {
		if off := a - m.lo; off < m.size && m.bits[off/64]>>(off%64)&1 != 0 {
			return true
		}
	}
	return false
}
