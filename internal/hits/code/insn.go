package code

import (
	"encoding/binary"
	"errors"
)

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

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// longest is the largest size of an instruction in bytes.
const longest = 15

// errUnknown means that an instruction is not known, or cut short.
var errUnknown = errors.New("unknown instruction")

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
	switch op := d.prefixes(); op {
	case 0x0f:
		return d.escaped()
	case 0xc4, 0xc5:
		d.vector = true
		return d.vex(op)
	case 0x62:
		d.vector = true
		return d.evex()
	case 0x8f:
		if d.peek()&0x1f >= 8 { // XOP, which no processor has had since 2017
			return instruction{}, errUnknown
		}
		return d.oneByte(op)
	default:
		return d.oneByte(op)
	}
}

// peek returns the next byte, and 0 after the last one: finish finds that the instruction is cut short.
func (d *decoder) peek() byte {
	if d.pos < len(d.code) {
		return d.code[d.pos]
	}
	return 0
}

// next reads a byte.
func (d *decoder) next() byte {
	b := d.peek()
	d.pos++
	return b
}

// prefixes reads the prefixes and returns the first byte after them.
func (d *decoder) prefixes() byte {
	for {
		switch b := d.next(); {
		case b&0xf0 == 0x40:
			d.rexW = b&8 != 0
			if !isPrefix(d.peek()) {
				return d.next()
			}
		case !isPrefix(b):
			return b
		default:
			d.size66, d.addr67, d.rexW = d.size66 || b == 0x66, d.addr67 || b == 0x67, false
		}
	}
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
	form := oneByteForm[op]
	extra := 0
	switch digit := d.peek() >> 3 & 7; {
	case op&0xfc == 0xa0: // mov of an address
		if extra = 8; d.addr67 {
			extra = 4
		}
	case op&0xf8 == 0xb8 && d.rexW: // mov of eight bytes
		form, extra = forms['.'], 8
	case op == 0xf6 && digit < 2: // of this group, only test has an immediate
		form = forms['b']
	case op == 0xf7 && digit < 2:
		form = forms['z']
	case op == 0xff: // inc, dec, call, jmp, push
		form.kind = [...]kind{plain, plain, callIndirect, loop, jumpIndirect, jumpIndirect, plain, plain}[digit] // a far call also pushes a segment
		if digit == 7 {
			return instruction{}, errUnknown
		}
	case op == 0xc7 && d.peek() == 0xf8: // xbegin
		d.pos++
		form = forms['x']
	}
	return d.finish(form, extra)
}

// escaped decodes the rest of an instruction whose opcode begins with 0f.
func (d *decoder) escaped() (instruction, error) {
	switch op := d.next(); op {
	case 0x38:
		d.pos++
		return d.finish(forms['m'], 0)
	case 0x3a:
		d.pos++
		return d.finish(forms['b'], 0)
	default:
		return d.finish(escapedForm[op], 0)
	}
}
