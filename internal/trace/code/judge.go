package code

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// jumpSize is how long the jump is that is written over a function's beginning.
const jumpSize = 5

// Analyse reads an ELF file and says what functions it has and which of their entries a jump can displace. An
// error is a Refusal.
func Analyse(r io.ReaderAt) (*Object, error) {
	im, err := open(r)
	if err != nil {
		return nil, err
	}
	im.symbols()
	im.unwound()
	im.pointers()
	im.distances()
	all := im.extents()
	im.branches(all)
	o := &Object{BuildID: im.buildID, Functions: make([]Function, len(all)), Left: map[Reason]int{}}
	for i := range all {
		f := im.judge(&all[i])
		if f.Reason != "" {
			o.Left[f.Reason]++
		}
		o.Functions[i] = f
	}
	return o, nil
}

// judge decides whether a function's entry may be touched.
func (im *image) judge(e *extent) Function {
	f := Function{Name: e.name, Entry: e.from, Size: e.size, Patch: e.from}
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
	some := among(code[:min(n, len(code))])
	if reason == "" && im.catches && some.faults {
		reason = MayFault
	}
	if f.Reason = reason; reason == "" {
		f.Displaced, f.Careful, f.Calls = n, !flagsDead(code), some.kind == call
	}
	return f
}

// whole returns the reason that speaks against a function as a whole.
func (im *image) whole(e *extent) Reason {
	code := e.section.bytes(e.from)
	switch {
	case e.from == im.file.Entry:
		return ProcessEntry
	case e.resolver:
		return Resolver
	case e.section.linkage:
		return Linkage
	case e.frame != nil && e.frame.signal || signalReturn(code):
		return SignalReturn
	case e.frame != nil && e.frame.fragment || strings.Contains(e.name, ".cold"):
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

// returnFromSignal is mov $15,%rax; syscall, by which debuggers and unwinders know the frame of a signal.
var returnFromSignal = []byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}

func signalReturn(code []byte) bool {
	return bytes.HasPrefix(code, returnFromSignal) || len(code) > 0 && bytes.HasPrefix(code[1:], returnFromSignal)
}

// entered returns the reason why bytes from patch on may be entered other than through the first.
func (im *image) entered(e *extent, patch uint64, n int) Reason {
	end := patch + uint64(n)
	switch {
	case im.steps < 0 || im.marks.between(patch+1, end) || patch > e.from && im.marks.between(e.from+1, patch):
		return BranchInto
	case e.frame != nil && e.frame.guarded < end:
		return Guarded
	}
	return ""
}

// displace returns how many bytes the jump displaces: whole instructions all of which can be moved, and if the last
// of them never goes on as many of the unused bytes behind the function as the jump needs.
func displace(code []byte, padding int) (int, Reason) {
	for n := 0; n < len(code); {
		i, err := decode(code[n:])
		if err != nil {
			return 0, Undecodable
		}
		if r := movable(i, code[n:]); r != "" {
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

// movable returns the reason why an instruction cannot be run at another place.
func movable(i instruction, code []byte) Reason {
	inst, err := x86asm.Decode(code[:i.length], 64)
	if err != nil || inst.Len != i.length {
		return Immovable
	}
	switch i.kind {
	case conditional, jump, jumpIndirect, call:
		return ""
	case callIndirect:
		if i.stack {
			return EarlyCall // its operand would lie elsewhere after a push
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

// among returns what of displaced instructions is told of them all: whether one may fault, and whether one calls.
func among(code []byte) (all instruction) {
	for len(code) > 0 {
		i, err := decode(code)
		if err != nil {
			break
		}
		all.faults = all.faults || i.faults
		if i.kind == call || i.kind == callIndirect {
			all.kind = call
		}
		code = code[i.length:]
	}
	return all
}
