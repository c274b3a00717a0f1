package code

import "errors"

// kind is what an instruction does to the flow of control.
type kind uint8

const (
	plain        kind = iota // continues with the next instruction
	conditional              // jcc: continues with the next instruction or the target
	loop                     // loop, loope, loopne, jrcxz, xbegin: the same, but must not be moved; far calls
	jump                     // jmp to the target
	call                     // call of the target
	jumpIndirect             // jmp through a register or memory
	callIndirect             // call through a register or memory
	ret                      // a return of any kind
	stop                     // ud2, hlt: never continues
)

// instruction is what the planter needs to know about an instruction: its length, its targets, and
// which parts depend on its address.
type instruction struct {
	length   int
	kind     kind
	relative int  // bytes of the distance at its end: 0, 1 or 4
	rip      int  // index of the 32-bit displacement of an operand relative to rip; 0: none
	address  bool // lea with such an operand: takes an address and reads no memory
	stack    bool // has an operand in memory relative to rsp
	vector   bool // encoded with VEX or EVEX: such instructions neither branch nor read the flags
	constant int  // index of 32 bits that may be an address (an immediate, a displacement); 0: none
}

// next reports whether control can continue with the next instruction.
func (i instruction) next() bool {
	return i.kind != jump && i.kind != jumpIndirect && i.kind != ret && i.kind != stop
}

// target returns the target of a direct branch at address at. code has the instruction.
func (i instruction) target(code []byte, at uint64) uint64 {
	end := at + uint64(i.length)
	if i.relative == 1 {
		return end + uint64(int64(int8(code[i.length-1])))
	}
	return end + uint64(int64(int32(le32(code[i.length-4:]))))
}

// pointed returns the address of the operand relative to rip.
func (i instruction) pointed(code []byte, at uint64) uint64 {
	return at + uint64(i.length) + uint64(int64(int32(le32(code[i.rip:]))))
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// longest is the largest size of an instruction in bytes.
const longest = 15

var (
	errUnknown = errors.New("unknown instruction")
	errCut     = errors.New("instruction cut short")
)

// Shapes of instructions by opcode: whether a ModRM byte follows, and which immediate.
const (
	bad    = 1 << iota // invalid in 64-bit mode, or unknown here
	modrm              // ModRM byte, possibly SIB and displacement
	imm8               // one byte
	imm16              // two bytes
	immz               // four bytes, two with prefix 66
	near8              // one byte of distance
	near32             // four bytes of distance
	none   = 0
)

// decoder has the state of the instruction that is being decoded.
type decoder struct {
	code   []byte
	pos    int
	size66 bool // operand size prefix
	addr67 bool // address size prefix
	rexW   bool
	opcode byte
	rip    int // index of a displacement relative to rip
	far    int // index of another displacement of 32 bits
	stack  bool
	vector bool
}

// decode decodes the instruction at the beginning of code. It knows the lengths of all instructions
// that compilers and assemblers generate for amd64 up to AVX-512, and is much faster than a full
// decoder. Unknown instructions are errors. Tests compare it with x86asm and objdump.
func decode(code []byte) (instruction, error) {
	if len(code) > longest {
		code = code[:longest]
	}
	d := decoder{code: code}
	op, ok := d.prefixes()
	if !ok {
		return instruction{}, errCut
	}
	switch op {
	case 0x0f:
		return d.escaped()
	case 0xc4, 0xc5:
		d.vector = true
		return d.vex(op)
	case 0x62:
		d.vector = true
		return d.evex()
	case 0x8f:
		if d.pos < len(d.code) && d.code[d.pos]&0x1f >= 8 {
			return d.xop()
		}
	}
	return d.oneByte(op)
}

// prefixes reads the prefixes and returns the first byte after them.
func (d *decoder) prefixes() (byte, bool) {
	for d.pos < len(d.code) {
		b := d.code[d.pos]
		d.pos++
		switch b {
		case 0x66:
			d.size66, d.rexW = true, false
		case 0x67:
			d.addr67, d.rexW = true, false
		case 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3:
			d.rexW = false
		default:
			if b&0xf0 != 0x40 {
				return b, true
			}
			d.rexW = b&8 != 0
			if d.pos < len(d.code) && !isPrefix(d.code[d.pos]) {
				d.pos++
				return d.code[d.pos-1], true
			}
		}
	}
	return 0, false
}

func isPrefix(b byte) bool {
	switch b {
	case 0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0xf0, 0xf2, 0xf3:
		return true
	}
	return b&0xf0 == 0x40
}

// oneByte decodes the rest of an instruction with an opcode of one byte.
func (d *decoder) oneByte(op byte) (instruction, error) {
	d.opcode = op
	switch {
	case op == 0xa0 || op == 0xa1 || op == 0xa2 || op == 0xa3:
		return d.finish(plain, none, d.pick(d.addr67, 4, 8))
	case op&0xf8 == 0xb8 && d.rexW:
		return d.finish(plain, none, 8)
	case op == 0xf6 || op == 0xf7:
		return d.group3(op)
	case op == 0xc8:
		return d.finish(plain, imm16|imm8, 0)
	case op == 0xff:
		return d.group5()
	case op == 0xc7 && d.pos < len(d.code) && d.code[d.pos] == 0xf8: // xbegin
		d.pos++
		return d.finish(loop, near32, 0)
	}
	shape := oneByteShape[op]
	k := plain
	switch {
	case op&0xf0 == 0x70:
		k = conditional
	case op >= 0xe0 && op <= 0xe3:
		k = loop
	case op == 0xe8:
		k = call
	case op == 0xe9 || op == 0xeb:
		k = jump
	case op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcf:
		k = ret
	case op == 0xf4:
		k = stop
	}
	return d.finish(k, shape, 0)
}

func (d *decoder) pick(c bool, a, b int) int {
	if c {
		return a
	}
	return b
}

// group3 decodes test, not, neg, mul, div: only test has an immediate.
func (d *decoder) group3(op byte) (instruction, error) {
	if d.pos >= len(d.code) {
		return instruction{}, errCut
	}
	shape := modrm
	if d.code[d.pos]>>3&7 < 2 {
		shape |= d.pick(op == 0xf6, imm8, immz)
	}
	return d.finish(plain, shape, 0)
}

// group5 decodes inc, dec, call, jmp, push by their operand.
func (d *decoder) group5() (instruction, error) {
	if d.pos >= len(d.code) {
		return instruction{}, errCut
	}
	k := plain
	switch d.code[d.pos] >> 3 & 7 {
	case 2:
		k = callIndirect
	case 3: // a far call, which also pushes a segment
		k = loop
	case 4, 5:
		k = jumpIndirect
	case 7:
		return instruction{}, errUnknown
	}
	return d.finish(k, modrm, 0)
}

// escaped decodes the rest of an instruction whose opcode begins with 0f.
func (d *decoder) escaped() (instruction, error) {
	if d.pos >= len(d.code) {
		return instruction{}, errCut
	}
	op := d.code[d.pos]
	d.pos++
	switch op {
	case 0x38, 0x3a:
		if d.pos >= len(d.code) {
			return instruction{}, errCut
		}
		d.pos++
		if op == 0x3a {
			return d.finish(plain, modrm|imm8, 0)
		}
		return d.finish(plain, modrm, 0)
	case 0x0b:
		return d.finish(stop, none, 0)
	}
	if op&0xf0 == 0x80 {
		return d.finish(conditional, near32, 0)
	}
	return d.finish(plain, escapedShape[op], 0)
}
