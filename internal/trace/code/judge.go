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
	code = code[:min(uint64(len(code)), e.to-e.from)]
	if endbr(code) {
		f.Patch += 4
		code = code[4:]
	}
	if f.Reason = im.whole(e); f.Reason != "" {
		return f
	}
	n, reason := displace(code)
	if reason == "" {
		reason = im.entered(e, f.Patch, n)
	}
	if f.Reason = reason; reason == "" {
		f.Displaced, f.Careful = n, !flagsDead(code)
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

// displace returns how many bytes the jump displaces, whole instructions all of which can be moved.
func displace(code []byte) (int, Reason) {
	n := 0
	for n < jumpSize {
		if n >= len(code) {
			return 0, Small
		}
		i, err := decode(code[n:])
		if err != nil {
			return 0, Undecodable
		}
		if r := movable(i, code[n:]); r != "" {
			return 0, r
		}
		n += i.length
		if !i.next() && n < jumpSize {
			return 0, Small
		}
	}
	return n, ""
}

// movable returns the reason why an instruction cannot be run at another place.
func movable(i instruction, code []byte) Reason {
	switch i.kind {
	case call, callIndirect:
		return EarlyCall
	case loop, stop:
		return Immovable
	case conditional, jump, jumpIndirect, ret:
		return ""
	}
	inst, err := x86asm.Decode(code[:i.length], 64)
	if err != nil || inst.Len != i.length || effects[inst.Op] == 0 {
		return Immovable
	}
	return ""
}
