package code

import (
	"bytes"
	"math"
)

// frame is the information of an FDE of .eh_frame about a function.
type frame struct {
	from, size uint64
	signal     bool   // the return from a signal
	fragment   bool   // its frame is not that of a function just called
	guarded    uint64 // smallest address whose exceptions are caught; none: the highest address
}

// cie is the common part of the FDEs of one CIE.
type cie struct {
	augmented bool // begins with z: lengths are given
	pointer   byte // encoding of the addresses of functions
	lsda      byte // encoding of the addresses of exception tables
	signal    bool
	personal  bool // has a routine that decides what catches an exception
}

// The encodings of pointers in .eh_frame (Linux Standard Base, Core, 10.5.1).
const (
	encodedOmit     = 0xff
	encodedRelative = 0x10 // relative to the pointer's own address
	encodedIndirect = 0x80
)

// reader reads numbers of a section. After the end it returns zeros and records the error.
type reader struct {
	data   []byte
	at     uint64 // address of the first byte of data
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.failed, r.data = true, nil
		return make([]byte, min(n, 8))
	}
	b := r.data[:n]
	r.data, r.at = r.data[n:], r.at+n
	return b
}

func (r *reader) u8() byte    { return r.take(1)[0] }
func (r *reader) u32() uint32 { return le32(r.take(4)) }
func (r *reader) u64() uint64 { return le64(r.take(8)) }

// leb reads a number of variable length.
func (r *reader) leb(signed bool) uint64 {
	var v uint64
	for shift := uint(0); shift < 70; shift += 7 {
		b := r.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || r.failed {
			if signed && b&0x40 != 0 && shift+7 < 64 {
				v |= ^uint64(0) << (shift + 7)
			}
			return v
		}
	}
	r.failed = true
	return 0
}

// value reads a number in the format of the lower four bits of an encoding.
func (r *reader) value(encoding byte) uint64 {
	size := [8]uint64{8, 0, 2, 4, 8}[encoding&7]
	switch {
	case encoding&7 == 1:
		return r.leb(encoding&8 != 0)
	case size == 0:
		r.failed = true
		return 0
	}
	var b [8]byte
	copy(b[8-size:], r.take(size))
	v := le64(b[:])
	if encoding&8 != 0 {
		return uint64(int64(v) >> (64 - 8*size))
	}
	return v >> (64 - 8*size)
}

// pointer reads an absolute or relative address. A null pointer is returned as 0.
func (r *reader) pointer(encoding byte) uint64 {
	here := r.at
	v := r.value(encoding)
	switch {
	case encoding&encodedIndirect != 0:
		r.failed = true
	case v == 0 || encoding&0x70 == 0:
	case encoding&0x70 == encodedRelative:
		v += here
	default:
		r.failed = true
	}
	return v
}

// frames reads all FDEs of .eh_frame, except those that it does not understand.
func (im *image) frames() []frame {
	var all []frame
	for i := range im.data {
		s := &im.data[i]
		if s.name != ".eh_frame" || len(all) > maxFunctions {
			continue
		}
		cies := map[uint64]*cie{}
		for r := (reader{data: s.data, at: s.from}); len(r.data) >= 4 && len(all) <= maxFunctions; {
			begin := r.at
			n := uint64(r.u32())
			if n == 0xffffffff {
				n = r.u64()
			}
			if n == 0 {
				continue
			}
			if r.failed || n > uint64(len(r.data)) {
				break
			}
			e := reader{at: r.at}
			e.data = r.take(n)
			here := e.at
			if id := e.u32(); id == 0 {
				cies[begin] = readCIE(e)
				im.catches = im.catches || cies[begin] == nil // unknown
			} else if c := cies[here-uint64(id)]; c != nil {
				if f, ok := im.readFDE(e, c); ok {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// readCIE reads a CIE after its length and zero, or returns nil if its kind is unknown.
func readCIE(r reader) *cie {
	c := &cie{lsda: encodedOmit}
	if version := r.u8(); version != 1 && version != 3 {
		return nil
	}
	var augmentation []byte
	for b := r.u8(); b != 0 && !r.failed; b = r.u8() {
		augmentation = append(augmentation, b)
	}
	r.leb(false) // factors of code and data, register of the return address
	r.leb(true)
	r.leb(false)
	if len(augmentation) > 0 && augmentation[0] != 'z' {
		return nil
	}
	for _, a := range augmentation {
		switch a {
		case 'z':
			c.augmented = true
			r.leb(false)
		case 'R':
			c.pointer = r.u8()
		case 'L':
			c.lsda = r.u8()
		case 'P':
			c.personal = true
			r.value(r.u8() &^ encodedIndirect)
		case 'S':
			c.signal = true
		default:
			return nil
		}
	}
	if r.failed {
		return nil
	}
	return c
}

// readFDE reads an FDE after the offset of its CIE.
func (im *image) readFDE(r reader, c *cie) (frame, bool) {
	f := frame{signal: c.signal}
	f.from = r.pointer(c.pointer)
	f.size = r.value(c.pointer)
	f.guarded = math.MaxUint64
	cleans := false // the table is known, and catches nothing
	if c.augmented {
		a := reader{at: r.at}
		n := r.leb(false)
		a.at = r.at
		a.data = r.take(n)
		if c.lsda != encodedOmit && n > 0 && !r.failed {
			if lsda := a.pointer(c.lsda); lsda != 0 && !a.failed {
				cleans = im.readLSDA(&f, lsda)
			}
		}
	}
	im.catches = im.catches || c.personal && !cleans
	if r.failed || f.size == 0 || f.from+f.size < f.from {
		return frame{}, false
	}
	f.fragment = beginsInside(r)
	return f, true
}

// beginsInside reports whether the frame's rules already differ from those of the CIE at its first
// byte. Then the stack has something that no function just called has there, and the code is part of
// another function.
func beginsInside(r reader) bool {
	rules := bytes.TrimLeft(r.data, "\x00") // DW_CFA_nop
	if len(rules) == 0 {
		return false
	}
	op := rules[0]
	advances := op>>6 == 1 || op <= 0x04 // DW_CFA_advance_loc, DW_CFA_set_loc, and its longer forms
	return !advances && op != 0x2e       // DW_CFA_GNU_args_size
}
