package code

import (
	"bytes"
	"cmp"
	"debug/elf"
	"maps"
	"slices"
)

// extent is the code from the beginning of a function to its end, or to the next function.
type extent struct {
	*start
	to        uint64
	section   *section
	padding   uint64 // number of unused bytes after its end
	undecoded bool   // contains an unknown instruction, or branches between its instructions
	loops     bool   // branches back to its beginning, other than by a call
	computed  bool   // jumps through a register or memory, and takes an address within itself
}

// extents divides the code at all beginnings of functions.
func (im *image) extents() []extent {
	starts := slices.SortedFunc(maps.Values(im.starts), func(a, b *start) int { return cmp.Compare(a.from, b.from) })
	all := make([]extent, len(starts))
	for i, s := range starts {
		e := extent{start: s, section: im.at(s.from)}
		end := e.section.to
		if i+1 < len(starts) {
			end = min(end, starts[i+1].from)
		}
		e.to = e.from + min(e.size, end-e.from)
		e.padding = padding(e.section.bytes(e.to)[:end-e.to])
		all[i] = e
	}
	return all
}

// padding returns the number of bytes at the beginning of code that are only filler: nops or int3.
// Zeros are no filler: they may be data.
func padding(code []byte) uint64 {
	n := 0
	for n < len(code) && n < longest {
		rest := code[n:]
		switch i, err := decode(rest); {
		case rest[0] == 0xcc:
			n++
		case err == nil && filler(rest[:i.length]):
			n += i.length
		default:
			return uint64(n)
		}
	}
	return uint64(n)
}

// filler reports whether an instruction is a nop of any length.
func filler(code []byte) bool {
	code = bytes.TrimLeft(code, "\x66\x2e")
	return bytes.Equal(code, []byte{0x90}) || len(code) > 2 && code[0] == 0x0f && code[1] == 0x1f && code[2]&0x38 == 0
}

// walker decodes functions one after another and marks the targets of their branches.
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
		if i.constant != 0 && w.im.fixed() {
			a := uint64(le32(code[i.constant:]))
			w.im.marks.set(a)
			w.im.taken.set(a)
			own = own || a >= e.from && a < e.to
		}
		indirect = indirect || i.kind == jumpIndirect
		if i.rip != 0 { // an address, or data among the code
			a := i.pointed(code, at)
			w.im.marks.set(a)
			own = own || i.address && a >= e.from && a < e.to
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

// endbr reports whether code begins with endbr64, where indirect branches must land if CET is
// active.
func endbr(code []byte) bool {
	return len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa
}

// branches decodes all functions and the code between them, and marks the targets of branches. If
// decoding fails, every byte may begin a short branch.
func (im *image) branches(all []extent) {
	w := walker{im: im, begins: newMarks(im.marks.lo, im.marks.lo+im.marks.size)}
	for i := range all {
		w.walk(&all[i])
	}
	next := 0
	for i := range im.code {
		s := &im.code[i]
		at := s.from
		for ; next < len(all) && all[next].section == s; next++ {
			e := &all[next]
			w.gap(s, at, e.from)
			if e.undecoded {
				im.anything(s, e.from, e.to)
			}
			at = max(at, e.to)
		}
		w.gap(s, at, s.to)
	}
}

// gap decodes code between functions: code without a symbol and an FDE, such as the code with which
// compilers begin and end a program.
func (w *walker) gap(s *section, from, to uint64) {
	e := extent{start: &start{frame: frame{from: from}}, to: to, section: s}
	if w.walk(&e); e.undecoded {
		w.im.anything(s, from, to)
	}
}

// anything marks the targets of the short branches, addresses and operands relative to rip that may
// begin at any byte of a range.
func (im *image) anything(s *section, from, to uint64) {
	if from >= to {
		return
	}
	if im.fixed() {
		im.look32(s, s.data[from-s.from:to-s.from])
	}
	for at := from; at+2 <= s.to && at < to; at++ {
		b := s.data[at-s.from : at-s.from+2]
		if b[0]&0xf0 == 0x70 || b[0] == 0xeb || b[0] >= 0xe0 && b[0] <= 0xe3 {
			im.marks.set(at + 2 + uint64(int64(int8(b[1]))))
		}
		if b[0]&0xc7 == 0x05 { // before an immediate of any size
			for _, rest := range []uint64{0, 1, 2, 4} {
				im.distance(s, int(at-s.from)+1, rest)
			}
		}
	}
}

// fixed reports whether the object is loaded at the addresses of the file, so that code may contain
// addresses as constants.
func (im *image) fixed() bool { return im.file.Type == elf.ET_EXEC }
