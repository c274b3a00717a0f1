package extsort

import (
	"bytes"
	"math/bits"
	"slices"

	"berth/internal/mapreduce/hadoop"
)

// entry is a record in a buffer: the position of its line, and a prefix of its key. Most comparisons
// need only the prefix and not the line.
type entry struct {
	prefix  uint64
	off     uint32 // of the line in the buffer's memory
	keyLen  uint32
	lineLen uint32 // without the newline, which follows it
	part    uint16
	count   uint16 // number of equal records, at least 1
}

const (
	entrySize = 24
	// maxCount is the largest count of an entry.
	maxCount = 1<<16 - 1
	// maxPartitions is the largest number of reduces, as an entry has 16 bits for the partition.
	maxPartitions = 1 << 16
	// fewEntries is the largest number of entries that are sorted by insertion, which is then faster
	// than by digits (measured).
	fewEntries = 20
)

// sorter sorts the entries of a buffer by partition, then by key, then by the rest of the line. It
// sorts the digits of the prefixes in place, the most significant first (American flag sort; McIlroy,
// Bostic, McIlroy: Engineering Radix Sort, 1993). In byte order, entries with equal prefixes get the
// next 8 bytes of their keys as a new prefix. So a common beginning of all keys costs one pass and no
// comparisons.
type sorter struct {
	mem []byte
	cmp hadoop.Comparator
}

// sort sorts all entries.
func (s *sorter) sort(e []entry, parts int) {
	if parts == 1 {
		s.digits(e, 0, false)
		return
	}
	next, ends := make([]int, parts), make([]int, parts)
	for i := range e {
		ends[e[i].part]++
	}
	at := 0
	for p, n := range ends {
		next[p] = at
		at += n
		ends[p] = at
	}
	for p := range parts {
		for next[p] < ends[p] {
			q := e[next[p]].part
			if int(q) == p {
				next[p]++
				continue
			}
			e[next[p]], e[next[q]] = e[next[q]], e[next[p]]
			next[q]++
		}
	}
	at = 0
	for _, end := range ends {
		s.digits(e[at:end], 0, false)
		at = end
	}
}

// digits sorts entries whose strings are equal up to depth. Their prefixes are the 8 bytes behind
// depth. The strings are the keys, or, if rest is set, the rests of lines with equal keys.
func (s *sorter) digits(e []entry, depth int, rest bool) {
	if len(e) <= fewEntries {
		s.insertion(e, depth, rest)
		return
	}
	first, differ := e[0].prefix, uint64(0)
	for i := range e {
		differ |= e[i].prefix ^ first
	}
	if differ == 0 {
		s.tied(e, depth, rest)
		return
	}
	// The digit begins with the first bit that differs.
	shift := max(0, bits.Len64(differ)-8)
	ends := flag(e, shift)
	at := 0
	for _, end := range ends {
		if int(end)-at > 1 {
			s.digits(e[at:end], depth, rest)
		}
		at = int(end)
	}
}

// flag permutes e so that the 8 bits of the prefixes at shift ascend. It returns the end of each of
// the 256 groups.
func flag(e []entry, shift int) [256]uint32 {
	var next, ends [256]uint32
	for i := range e {
		ends[byte(e[i].prefix>>(shift&63))]++
	}
	at := uint32(0)
	for d, n := range ends {
		next[d] = at
		at += n
		ends[d] = at
	}
	for d := range ends {
		for next[d] < ends[d] {
			held := e[next[d]]
			to := byte(held.prefix >> (shift & 63))
			for int(to) != d {
				n := next[to]
				next[to]++
				held, e[n] = e[n], held
				to = byte(held.prefix >> (shift & 63))
			}
			e[next[d]] = held
			next[d]++
		}
	}
	return ends
}

// insertion sorts a few entries.
func (s *sorter) insertion(e []entry, depth int, rest bool) {
	for i := 1; i < len(e); i++ {
		held := e[i]
		j := i
		for j > 0 && (held.prefix < e[j-1].prefix ||
			held.prefix == e[j-1].prefix && s.compare(&held, &e[j-1], depth, rest) < 0) {
			e[j] = e[j-1]
			j--
		}
		e[j] = held
	}
}

// tied sorts entries whose prefixes at depth are all the same.
func (s *sorter) tied(e []entry, depth int, rest bool) {
	if s.cmp != hadoop.ByteOrder && !rest {
		slices.SortFunc(e, func(a, b entry) int { return s.compare(&a, &b, depth, rest) })
		return
	}
	// Strings that end within the prefix come first, as their prefixes were padded with zeros.
	depth += 8
	n := 0
	for i := range e {
		if s.length(&e[i], rest) <= depth {
			e[i], e[n] = e[n], e[i]
			n++
		}
	}
	s.ended(e[:n], rest)
	longer := e[n:]
	for i := range longer {
		longer[i].prefix = hadoop.BytePrefix(s.str(&longer[i], rest)[depth:])
	}
	s.digits(longer, depth, rest)
}

// ended sorts entries whose strings differ at most in the number of zero bytes at their ends. It
// sorts them by length, and entries with equal keys by the rest of the line.
func (s *sorter) ended(e []entry, rest bool) {
	byLength := func(a, b entry) int { return s.length(&a, rest) - s.length(&b, rest) }
	if !slices.IsSortedFunc(e, byLength) {
		slices.SortFunc(e, byLength)
	}
	if rest {
		return
	}
	for len(e) > 0 {
		n := 1
		for n < len(e) && e[n].keyLen == e[0].keyLen {
			n++
		}
		same := e[:n]
		e = e[n:]
		for i := range same {
			same[i].prefix = hadoop.BytePrefix(s.str(&same[i], true))
		}
		s.digits(same, 0, true)
	}
}

func (s *sorter) length(e *entry, rest bool) int {
	if rest {
		return int(e.lineLen - e.keyLen)
	}
	return int(e.keyLen)
}

// str returns the string by which e is sorted: the key or the rest of the line.
func (s *sorter) str(e *entry, rest bool) []byte {
	if rest {
		return s.mem[e.off+e.keyLen : e.off+e.lineLen]
	}
	return s.mem[e.off : e.off+e.keyLen]
}

// compare compares the strings from depth on. If the keys are equal, it compares the rests of the lines.
func (s *sorter) compare(a, b *entry, depth int, rest bool) int {
	if !rest {
		ka, kb := s.str(a, false), s.str(b, false)
		if s.cmp != hadoop.ByteOrder {
			if r := s.cmp.Compare(ka, kb); r != 0 {
				return r
			}
			depth = 0
		}
		if r := bytes.Compare(ka[depth:], kb[depth:]); r != 0 {
			return r
		}
		depth = 0
	}
	return bytes.Compare(s.str(a, true)[depth:], s.str(b, true)[depth:])
}
