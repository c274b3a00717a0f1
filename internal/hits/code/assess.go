package code

import (
	"bytes"
	"debug/elf"
	"io"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// jumpSize is the length of the jump that is written over a function's beginning.
const jumpSize = 5

// Analyse reads an ELF file and returns its functions and the entries that a jump can displace. Its
// errors are Refusals.
func Analyse(r io.ReaderAt) (*Object, error) {
	im, err := open(r)
	if err != nil {
		return nil, err
	}
	im.symbols()
	im.unwound()
	im.pointers()
	im.distances()
	if len(im.starts) > maxFunctions {
		return nil, TooLarge
	}
	all := im.extents()
	im.branches(all)
	o := &Object{BuildID: im.buildID, Catches: im.catches, Locks: im.locks, Functions: make([]Function, len(all))}
	for _, p := range im.file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			o.Loads = append(o.Loads, p.ProgHeader)
		}
	}
	for i := range all {
		o.Functions[i] = im.assess(&all[i])
	}
	return o, nil
}

// assess decides whether a function's entry may be changed.
func (im *image) assess(e *extent) Function {
	f := Function{Name: e.name, Entry: e.from, Patch: e.from}
	code := e.section.bytes(e.from)
	end := e.to - e.from
	code = code[:end]
	if endbr(code) {
		f.Patch += 4
		code = code[4:]
	}
	if f.Reason = im.whole(e); f.Reason != "" {
		return f
	}
	n, reason := displace(code, int(e.padding))
	if reason == "" {
		reason = im.entered(e, f.Patch, n)
	}
	careful := !flagsDead(code)
	if reason == "" && careful && !pushes(code) {
		reason = NoStack
	}
	if reason == "" && im.writes && im.taken.between(e.from, f.Patch+1) {
		reason = Copied
	}
	if f.Reason = reason; reason == "" {
		f.Original, f.Careful = e.section.bytes(f.Patch)[:n], careful
		f.Faults = careful || faults(code[:min(n, len(code))])
	}
	return f
}

// whole returns the reason against a whole function, or "".
func (im *image) whole(e *extent) Reason {
	code := e.section.bytes(e.from)
	switch {
	case e.from == im.file.Entry:
		return ProcessEntry
	case e.resolver:
		return Resolver
	case e.section.linkage:
		return Linkage
	case e.signal || signalReturn(code):
		return SignalReturn
	case e.fragment || strings.Contains(e.name, ".cold"):
		return Fragment
	case e.size == 0:
		return NoSize
	case e.undecoded:
		return Undecodable
	case e.loops:
		return LoopAtEntry
	case e.computed:
		return ComputedJumps
	}
	return ""
}

// returnFromSignal is mov $15,%rax; syscall, by which debuggers and unwinders recognize the frame of
// a signal.
var returnFromSignal = []byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}

func signalReturn(code []byte) bool {
	return bytes.HasPrefix(code, returnFromSignal) || len(code) > 0 && bytes.HasPrefix(code[1:], returnFromSignal)
}

// entered returns the reason why the bytes from patch on may be entered other than through the first
// byte, or "".
func (im *image) entered(e *extent, patch uint64, n int) Reason {
	end := patch + uint64(n)
	switch {
	case im.steps < 0 || im.marks.between(patch+1, end) || patch > e.from && im.marks.between(e.from+1, patch):
		return BranchInto
	case e.guarded < end:
		return Guarded
	}
	return ""
}

// displace returns how many bytes the jump displaces: whole instructions that can all be moved, and,
// if the last of them never continues, as many unused bytes after the function as the jump needs.
func displace(code []byte, padding int) (int, Reason) {
	for n := 0; n < len(code); {
		i, err := decode(code[n:])
		if err != nil {
			return 0, Undecodable
		}
		if r := movable(code[n:]); r != "" {
			return 0, r
		}
		n += i.length
		switch {
		case n >= jumpSize:
			return n, ""
		case i.kind == callIndirect:
			return 0, EarlyCall
		case !i.next() && n == len(code) && n+padding >= jumpSize:
			return jumpSize, ""
		case !i.next():
			return 0, Small
		}
	}
	return 0, Small
}

// movable returns the reason why an instruction cannot be executed at another address, or "".
func movable(code []byte) Reason {
	i, inst, ok := agreed(code)
	if !ok {
		return Immovable
	}
	switch i.kind {
	case conditional, jump, jumpIndirect, call:
		return ""
	case callIndirect:
		if i.stack {
			return EarlyCall // its operand would have another address after a push
		}
		return ""
	case ret:
		if inst.Op == x86asm.RET {
			return ""
		}
	case plain:
		if effectOf(i, inst) != 0 {
			return ""
		}
	}
	return Immovable
}

// faults reports whether one of the displaced instructions may fault.
func faults(code []byte) bool {
	for len(code) > 0 {
		i, err := decode(code)
		if err != nil {
			break
		}
		if mayFault(i, code) {
			return true
		}
		code = code[i.length:]
	}
	return false
}
