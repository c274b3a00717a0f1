package code

import (
	"cmp"
	"maps"
	"slices"
)

// extent is a stretch of code from the beginning of a function to its end or that of the next.
type extent struct {
	*start
	from, to  uint64
	section   *section
	undecoded bool // holds what is no known instruction, or branches between its instructions
	loops     bool // branches back to its beginning, other than by a call
	computed  bool // jumps through a register or memory, and takes an address within itself
}

// extents cuts the code at all beginnings of functions.
func (im *image) extents() []extent {
	starts := slices.SortedFunc(maps.Values(im.starts), func(a, b *start) int { return cmp.Compare(a.entry, b.entry) })
	all := make([]extent, len(starts))
	for i, s := range starts {
		e := extent{start: s, from: s.entry, section: im.at(s.entry)}
		e.to = e.section.to
		if i+1 < len(starts) {
			e.to = min(e.to, starts[i+1].entry)
		}
		if e.size < e.to-e.from {
			e.to = e.from + e.size
		}
		all[i] = e
	}
	return all
}

// walker decodes functions one after another and marks where their branches lead.
type walker struct {
	im      *image
	begins  marks // first bytes of instructions
	targets []uint64
}

// walk decodes a function from its beginning to its end.
func (w *walker) walk(e *extent) {
	w.targets = w.targets[:0]
	patch := e.from
	indirect, own := false, false
	for at := e.from; at < e.to; {
		code := e.section.bytes(at)
		i, err := decode(code[:min(uint64(len(code)), e.to-at)])
		if err != nil {
			e.undecoded = true
			return
		}
		w.begins.set(at)
		if at == e.from && endbr(code) {
			patch += uint64(i.length)
		}
		if i.relative != 0 {
			t := i.target(code, at)
			w.im.marks.set(t)
			e.loops = e.loops || i.kind != call && (t == e.from || t == patch)
			w.targets = append(w.targets, t)
		}
		indirect = indirect || i.kind == jumpIndirect
		if i.address {
			a := i.pointed(code, at)
			own = own || a >= e.from && a < e.to
		}
		at += uint64(i.length)
	}
	e.computed = indirect && own
	for _, t := range w.targets {
		if t > e.from && t < e.to && !w.begins.between(t, t+1) {
			e.undecoded = true
		}
	}
}

// endbr reports whether code begins with endbr64, where indirect branches must land if CET is in force.
func endbr(code []byte) bool {
	return len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa
}

// branches decodes all functions and marks where branches lead. Where no function is, or one that could not be
// decoded, every byte may begin a short branch.
func (im *image) branches(all []extent) {
	w := walker{im: im, begins: newMarks(im.marks.lo, im.marks.lo+im.marks.size)}
	for i := range all {
		w.walk(&all[i])
	}
	for i := range im.code {
		s := &im.code[i]
		at := s.from
		for j := range all {
			e := &all[j]
			if e.section != s || e.undecoded {
				continue
			}
			im.short(s, at, e.from)
			at = max(at, e.to)
		}
		im.short(s, at, s.to)
	}
}

// short marks where short branches would lead that may begin at any byte of a range.
func (im *image) short(s *section, from, to uint64) {
	for at := from; at+2 <= s.to && at < to; at++ {
		b := s.data[at-s.from : at-s.from+2]
		if b[0]&0xf0 == 0x70 || b[0] == 0xeb || b[0] >= 0xe0 && b[0] <= 0xe3 {
			im.marks.set(at + 2 + uint64(int64(int8(b[1]))))
		}
	}
}
