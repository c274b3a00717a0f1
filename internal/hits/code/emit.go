package code

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// MaxTrampoline is the largest size of a trampoline in bytes: 20 for an increment that is careful; 12 for two short branches before the last displaced instruction, which begins within
// four bytes; 28 for that instruction, a call through memory with all its prefixes; 5 for the jump
// back; rounded up to 16 bytes.
const MaxTrampoline = 80

// Emit makes the bytes of a function's patch, to be written at Bias+f.Patch, and of its trampoline,
// to be written at at.Trampoline. The length of a trampoline does not depend on its address.
func Emit(f Function, at Placement) (patch, trampoline []byte, err error) {
	entry := at.Bias + f.Patch
	t := writer{at: at.Trampoline, code: make([]byte, 0, MaxTrampoline)}
	t.count(at, f.Careful)
	if len(f.Original) < jumpSize || !t.displaced(f.Original, entry) {
		return nil, nil, fmt.Errorf("%s: not a function that may be touched", f.Name)
	}
	p := writer{at: entry, code: make([]byte, 0, len(f.Original))}
	p.branch([]byte{0xe9}, at.Trampoline)
	for len(p.code) < len(f.Original) {
		p.code = append(p.code, 0xcc)
	}
	if t.far || p.far {
		return nil, nil, fmt.Errorf("%s: out of reach of a 32-bit distance", f.Name)
	}
	return p.code, t.code, nil
}

// displaced appends the displaced instructions and the jump back. It reports whether the bytes may
// be displaced.
func (w *writer) displaced(original []byte, from uint64) bool {
	for n := 0; n < len(original); {
		i, err := decode(original[n:])
		if err != nil || i.kind == loop || i.kind == stop {
			return false
		}
		w.move(i, original[n:n+i.length], from+uint64(n))
		n += i.length
		if i.kind == call || i.kind == callIndirect {
			return n == len(original)
		}
		if !i.next() {
			return true // the rest is not used
		}
	}
	w.branch([]byte{0xe9}, from+uint64(len(original)))
	return true
}

// writer appends instructions.
type writer struct {
	at   uint64 // address of the first instruction
	code []byte
	far  bool // a distance did not fit
}

// distance appends the distance to a target from the end of the instruction, which has rest more
// bytes.
func (w *writer) distance(target uint64, rest int) {
	d := int64(target - (w.at + uint64(len(w.code)+4+rest)))
	if d != int64(int32(d)) {
		w.far = true
	}
	w.code = binary.LittleEndian.AppendUint32(w.code, uint32(d))
}

// branch appends an instruction that ends with the distance to its target.
func (w *writer) branch(opcode []byte, target uint64) {
	w.code = append(w.code, opcode...)
	w.distance(target, 0)
}

// count appends the increment of the counter. If the flags are dead it is one instruction, which
// uses neither registers nor the stack. Otherwise it preserves the flags: lea adds without changing
// them, and lahf, seto, add and sahf restore them after an atomic increment. It saves a register in
// the eight bytes that the function itself overwrites next (pushes).
func (w *writer) count(at Placement, careful bool) {
	if careful {
		w.code = append(w.code, 0x50) // push %rax
	}
	switch {
	case careful && at.Exact:
		w.code = append(w.code, 0x9f, 0x0f, 0x90, 0xc0)      // lahf; seto %al
		w.branch([]byte{0xf0, 0x48, 0xff, 0x05}, at.Counter) // lock incq counter(%rip)
		w.code = append(w.code, 0x04, 0x7f, 0x9e)            // add $127,%al; sahf
	case careful:
		w.branch([]byte{0x48, 0x8b, 0x05}, at.Counter)  // mov counter(%rip),%rax
		w.code = append(w.code, 0x48, 0x8d, 0x40, 0x01) // lea 1(%rax),%rax
		w.branch([]byte{0x48, 0x89, 0x05}, at.Counter)  // mov %rax,counter(%rip)
	case at.Exact:
		w.branch([]byte{0xf0, 0x48, 0xff, 0x05}, at.Counter) // lock incq counter(%rip)
	default:
		w.branch([]byte{0x48, 0xff, 0x05}, at.Counter) // incq counter(%rip)
	}
	if careful {
		w.code = append(w.code, 0x58) // pop %rax
	}
}

// move appends an instruction from another address so that it has the same effect.
func (w *writer) move(i instruction, code []byte, from uint64) {
	if i.kind == call || i.kind == callIndirect {
		back := from + uint64(len(code))
		w.code = binary.LittleEndian.AppendUint32(append(w.code, 0x68), uint32(back))                       // push its lower half
		w.code = binary.LittleEndian.AppendUint32(append(w.code, 0xc7, 0x44, 0x24, 0x04), uint32(back>>32)) // movl its upper half,4(%rsp)
	}
	switch {
	case i.kind == call || i.kind == jump:
		w.branch([]byte{0xe9}, i.target(code, from))
	case i.kind == callIndirect:
		w.jumpInstead(i, code, from)
	case i.kind == conditional: // the lower half of the opcode's last byte is the condition
		w.branch([]byte{0x0f, 0x80 | code[len(code)-1-i.relative]&0x0f}, i.target(code, from))
	case i.rip != 0:
		w.code = append(w.code, code[:i.rip]...)
		w.distance(i.pointed(code, from), i.length-i.rip-4)
		w.code = append(w.code, code[i.rip+4:]...)
	default:
		w.code = append(w.code, code...)
	}
}

// jumpInstead appends a jump to the target of a call through a register or memory: the same
// instruction with three other bits in its operand.
func (w *writer) jumpInstead(i instruction, code []byte, from uint64) {
	changed := slices.Clone(code)
	m := slices.Index(changed, 0xff) + 1
	changed[m] = changed[m]&^0x38 | 4<<3
	i.kind = jumpIndirect
	w.move(i, changed, from)
}
