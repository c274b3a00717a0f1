package code

import (
	"bytes"
	"encoding/binary"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// The addresses in the memory of a machine.
const (
	functionAt   = 0x1000
	helperAt     = 0x1800
	harnessAt    = 0x2000
	trampolineAt = 0x3000
	dataAt       = 0x4000 // what functions read and write
	stateAt      = 0x5000 // registers and flags, for the harness
	counterAt    = 0x5800
	stackAt      = 0x8000 // its upper end
	memorySize   = 0x9000
)

// machine is memory in which generated functions are executed.
type machine struct {
	memory []byte
	base   uint64
}

func newMachine(t testing.TB) *machine {
	memory, err := syscall.Mmap(-1, 0, memorySize, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Skip("memory that is writable and executable is forbidden here:", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	m := &machine{memory: memory, base: uint64(uintptr(unsafe.Pointer(&memory[0])))}
	m.harness()
	return m
}

// generals are the registers whose values functions get: all except the stack pointer.
var generals = []byte{0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// withMemory appends an instruction with a register and memory relative to rip.
func (m *machine) withMemory(code []byte, at uint64, op, reg byte, target uint64) []byte {
	code = append(code, 0x48|reg>>3<<2, op, 5|reg&7<<3)
	return binary.LittleEndian.AppendUint32(code, uint32(target-(at+uint64(len(code))+4)))
}

// harness writes code that saves Go's registers, loads the registers and flags of the state, calls
// the function on its own stack, and stores them back to the state.
func (m *machine) harness() {
	var c []byte
	move := func(op, reg byte, off int) { c = m.withMemory(c, harnessAt, op, reg, uint64(off)) }
	for _, r := range generals {
		move(0x89, r, stateAt+0x200+8*int(r))
	}
	move(0x89, 4, stateAt+0x200+8*4)
	move(0x8d, 4, stackAt-0x100)
	move(0x8b, 0, stateAt+8*16)
	c = append(c, 0x50, 0x9d) // push %rax; popfq
	for _, r := range generals {
		move(0x8b, r, stateAt+8*int(r))
	}
	c = append(c, 0xe8)
	c = binary.LittleEndian.AppendUint32(c, uint32(functionAt-(harnessAt+len(c)+4)))
	for _, r := range generals {
		move(0x89, r, stateAt+8*int(r))
	}
	c = append(c, 0x9c, 0x58) // pushfq; pop %rax
	move(0x89, 0, stateAt+8*16)
	move(0x8b, 4, stateAt+0x200+8*4)
	for _, r := range generals {
		move(0x8b, r, stateAt+0x200+8*int(r))
	}
	copy(m.memory[harnessAt:], append(c, 0xfc, 0xc3)) // cld; ret
	// The helper that functions call stores the address from which it was called, and changes a
	// register and flags.
	h := []byte{0x48, 0x8b, 0x04, 0x24}                          // mov (%rsp),%rax
	h = m.withMemory(h, helperAt, 0x89, 0, dataAt+0x800)         // mov %rax,data
	copy(m.memory[helperAt:], append(h, 0x48, 0xd1, 0xe8, 0xc3)) // shr %rax; ret
}

// run calls the function and returns its results: registers, flags, data, and the stack that it
// found, including the red zone.
func (m *machine) run(registers []uint64) []byte {
	for i, v := range registers {
		binary.LittleEndian.PutUint64(m.memory[stateAt+8*i:], v)
	}
	for i := range 0x1000 {
		m.memory[dataAt+i] = byte(i * 7)
	}
	for i := range 0x1000 {
		m.memory[stackAt-0x1000+i] = byte(i * 3)
	}
	binary.LittleEndian.PutUint64(m.memory[dataAt+0x900:], m.base+helperAt)
	entry := &struct{ at uintptr }{uintptr(m.base) + harnessAt}
	(*(*func())(unsafe.Pointer(&entry)))()
	left := slices.Clone(m.memory[stateAt : stateAt+8*17])
	left = append(left, m.memory[dataAt:dataAt+0x1000]...)
	return append(left, m.memory[stackAt-0x100-8-128:stackAt]...)
}

// maker generates a function.
type maker struct {
	t       *rapid.T
	m       *machine
	code    []byte
	exits   []int // ends of distances to the tail: 8 bits, or 32
	wide    []bool
	pushes  int
	balance bool
}

func (g *maker) pick(name string, from []byte) byte { return rapid.SampledFrom(from).Draw(g.t, name) }
func (g *maker) register() byte                     { return g.pick("register", generals) }
func (g *maker) bytes(b ...byte)                    { g.code = append(g.code, b...) }

// relative appends an operand relative to rip, in the data, before an immediate of rest bytes.
func (g *maker) relative(rest int, target int) {
	g.code = binary.LittleEndian.AppendUint32(g.code, uint32(target-(functionAt+len(g.code)+4+rest)))
}

// instruction appends one instruction.
func (g *maker) instruction() {
	a, b := g.register(), g.register()
	rexRB := 0x48 | a>>3<<2 | b>>3
	both := 0xc0 | a&7<<3 | b&7
	target := dataAt + 8*rapid.IntRange(0, 0x80).Draw(g.t, "data")
	imm := rapid.Byte().Draw(g.t, "immediate")
	cc := rapid.ByteRange(0, 15).Draw(g.t, "condition")
	switch rapid.IntRange(0, 18).Draw(g.t, "sort") {
	case 0, 1:
		g.bytes(rexRB, g.pick("operation", []byte{0x01, 0x09, 0x11, 0x19, 0x21, 0x29, 0x31, 0x39, 0x85}), both)
	case 2, 3:
		g.bytes(rexRB, 0x89, both)
	case 4:
		g.bytes(0x48|b>>3, 0x83, 0xc0|rapid.ByteRange(0, 7).Draw(g.t, "group")<<3|b&7, imm)
	case 5:
		g.bytes(0x40|b>>3, 0xb8|b&7, imm, imm+1, 0, 7)
	case 6, 7:
		g.bytes(0x48|a>>3<<2, g.pick("memory", []byte{0x8d, 0x8b, 0x89, 0x3b, 0x03, 0x13}), 5|a&7<<3)
		g.relative(0, target)
	case 8:
		g.bytes(0x48, 0x83, 0x3d) // cmpq $imm,data
		g.relative(1, target)
		g.bytes(imm)
	case 9:
		g.bytes(0xc7, 0x05) // movl $…,data
		g.relative(4, target)
		g.bytes(imm, 1, 2, 3)
	case 10:
		g.bytes(0x40|b>>3, 0x0f, 0x90|cc, 0xc0|b&7)
	case 11:
		g.bytes(rexRB, 0x0f, 0x40|cc, both)
	case 12, 13:
		g.leave(cc)
	case 14:
		if g.balance {
			g.bytes(0x40|b>>3, 0x50|b&7)
			g.pushes++
		}
	case 15:
		g.call()
	case 16:
		g.bytes(0x66, 0x48, 0x0f, 0x6e, 0xc0) // movq %rax,%xmm0
	case 17:
		g.bytes(0x48|a>>3<<2, 0x8b, 0x44|a&7<<3, 0x24, imm&0x78) // mov imm(%rsp),a
	case 18:
		g.bytes(g.pick("short", []byte{0x90, 0x99, 0xf5}))
	}
}

// leave appends a branch to the tail, where the stack is balanced.
func (g *maker) leave(cc byte) {
	if g.balance {
		return
	}
	wide := rapid.Bool().Draw(g.t, "wide")
	always := rapid.IntRange(0, 7).Draw(g.t, "always") == 0
	switch {
	case always && wide:
		g.bytes(0xe9, 0, 0, 0, 0)
	case always:
		g.bytes(0xeb, 0)
	case wide:
		g.bytes(0x0f, 0x80|cc, 0, 0, 0, 0)
	default:
		g.bytes(0x70|cc, 0)
	}
	g.exits, g.wide = append(g.exits, len(g.code)), append(g.wide, wide)
}

// call appends a call of the helper, direct or through memory.
func (g *maker) call() {
	if rapid.Bool().Draw(g.t, "direct") {
		g.bytes(0xe8)
		g.relative(0, helperAt)
		return
	}
	g.bytes(0xff, 0x15)
	g.relative(0, dataAt+0x900)
}

// function generates a whole function.
func (g *maker) function() []byte {
	g.balance = rapid.Bool().Draw(g.t, "pushes")
	for len(g.code) < 24 {
		g.instruction()
	}
	for i, end := range g.exits {
		d := len(g.code) - end
		if g.wide[i] {
			binary.LittleEndian.PutUint32(g.code[end-4:], uint32(d))
		} else {
			g.code[end-1] = byte(d)
		}
	}
	for range g.pushes {
		g.bytes(0x5a)
	}
	g.bytes(0xc3)
	return g.code
}

// TestPatchedFunctionsDoTheSame checks for random functions that displacing the entry does not
// change the effects on registers, flags, memory, stack and red zone, and that the counter is
// incremented by one.
func TestPatchedFunctionsDoTheSame(t *testing.T) {
	m := newMachine(t)
	kept := 0
	rapid.Check(t, func(t *rapid.T) {
		g := maker{t: t, m: m}
		code := g.function()
		n, reason := displace(code, 0)
		careful := !flagsDead(code)
		if reason != "" || careful && !pushes(code) {
			return
		}
		kept++
		registers := rapid.SliceOfN(rapid.Uint64(), 16, 16).Draw(t, "registers")
		registers = append(registers, 2|rapid.Uint64().Draw(t, "flags")&0x8d5)
		memory := m.memory[functionAt:]
		copy(memory, code)
		want := m.run(registers)

		f := Function{Name: "f", Entry: functionAt, Patch: functionAt, Original: code[:n], Careful: careful}
		at := Placement{Bias: m.base, Trampoline: m.base + trampolineAt, Counter: m.base + counterAt, Exact: rapid.Bool().Draw(t, "exact")}
		patch, trampoline, err := Emit(f, at)
		if err != nil {
			t.Fatal(err)
		}
		if len(trampoline) > MaxTrampoline {
			t.Fatalf("trampoline of %d bytes", len(trampoline))
		}
		copy(memory, patch)
		copy(m.memory[trampolineAt:], trampoline)
		binary.LittleEndian.PutUint64(m.memory[counterAt:], 41)
		if got := m.run(registers); !bytes.Equal(got, want) {
			t.Fatalf("% x: does something else with %d bytes displaced by % x", code, n, trampoline)
		}
		if hits := binary.LittleEndian.Uint64(m.memory[counterAt:]); hits != 42 {
			t.Fatalf("% x: counter went from 41 to %d", code, hits)
		}
	})
	if kept == 0 {
		t.Error("no function could be displaced")
	}
}
