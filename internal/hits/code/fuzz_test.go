package code

import (
	"bytes"
	"os"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// FuzzAnalyse checks for any file that Analyse terminates, and that the functions that may be
// changed are within the sections and do not overlap.
func FuzzAnalyse(f *testing.F) {
	o := object([]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xc9, 0xc3}, 10)
	f.Add(o.file())
	o.extra = map[string][]byte{".eh_frame": someFrames()}
	f.Add(o.file())
	for _, name := range []string{"/bin/true", "/usr/bin/yes", "/bin/sync"} {
		if b, err := os.ReadFile(name); err == nil && len(b) < 100_000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		o, err := Analyse(bytes.NewReader(file))
		if err != nil {
			return
		}
		end := uint64(0)
		for _, fn := range o.Functions {
			if (len(fn.Original) == 0) != (fn.Reason != "") {
				t.Fatalf("%+v: displaced without a reason, or left with none", fn)
			}
			if len(fn.Original) > 0 && (len(fn.Original) < jumpSize || fn.Patch < end) {
				t.Fatalf("%+v: overlaps the function before it, which ends at %#x", fn, end)
			}
			if len(fn.Original) > 0 {
				end = fn.Patch + uint64(len(fn.Original))
			}
		}
	})
}

// FuzzEmit checks for any beginning of a function that Emit either refuses it, or makes a patch of
// the displaced size and a trampoline of instructions that another decoder knows.
func FuzzEmit(f *testing.F) {
	f.Add([]byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20}, false, false)
	f.Add([]byte{0x48, 0x83, 0xec, 0x08, 0xe8, 1, 2, 3, 4}, true, false)
	f.Add([]byte{0x48, 0x83, 0x3d, 1, 2, 3, 4, 5, 0x74, 0x10}, true, true)
	f.Add([]byte{0xff, 0x15, 1, 2, 3, 4}, true, true)
	f.Fuzz(func(t *testing.T, code []byte, careful, exact bool) {
		n, reason := displace(code, 0)
		if reason != "" {
			return
		}
		at := Placement{Bias: 0x10000, Trampoline: 0x300000, Counter: 0x500000, Exact: exact}
		patch, trampoline, err := Emit(Function{Patch: 0x1000, Original: code[:n], Careful: careful}, at)
		if err != nil {
			return
		}
		if len(patch) != n || len(trampoline) > MaxTrampoline {
			t.Fatalf("% x: patch of %d bytes, trampoline of %d", code[:n], len(patch), len(trampoline))
		}
		for rest := trampoline; len(rest) > 0; {
			inst, err := x86asm.Decode(rest, 64)
			if err != nil {
				t.Fatalf("% x: % x in the trampoline: %v", code[:n], rest, err)
			}
			rest = rest[inst.Len:]
		}
	})
}

// FuzzDecode checks that decode and x86asm agree on the length of every movable instruction, and
// that decode never reads beyond its end.
func FuzzDecode(f *testing.F) {
	for _, code := range [][]byte{{0x55}, {0x66, 0x48, 0x0f, 0x6e, 0xc0}, {0xc4, 0xe2, 0x7d, 0x58, 0x05, 1, 2, 3, 4}, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		i, err := decode(code)
		if err != nil {
			return
		}
		if i.length < 1 || i.length > min(longest, len(code)) || i.rip+4 > i.length && i.rip != 0 || i.constant+4 > i.length && i.constant != 0 {
			t.Fatalf("% x: %+v", code, i)
		}
	})
}

// someFrames returns an .eh_frame with a CIE and an FDE as compilers write them.
func someFrames() []byte {
	return []byte{
		0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
		0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0xf0, 0xcf, 0xff, 0xff, 0x0a, 0, 0, 0, 0, 0x41, 0x0e, 0x10, 0, 0, 0, 0,
		0, 0, 0, 0,
	}
}
