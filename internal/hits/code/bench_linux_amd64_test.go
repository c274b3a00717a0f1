package code

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
	"unsafe"
)

// BenchmarkAnalyse analyses the largest program that most machines have.
func BenchmarkAnalyse(b *testing.B) {
	found := compilers()
	if len(found) == 0 {
		b.Skip("gcc is not installed")
	}
	file, err := os.ReadFile(found[0])
	if err != nil {
		b.Skip("gcc's compiler cannot be read here:", err)
	}
	for b.Loop() {
		if _, err := Analyse(bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHit measures one call of a function, plain and with each kind of trampoline.
func BenchmarkHit(b *testing.B) {
	code := []byte{0x48, 0x8d, 0x47, 0x08, 0x48, 0x8d, 0x40, 0x08, 0xc3} // lea 8(%rdi),%rax; lea 8(%rax),%rax; ret
	const calls = 1000
	// The harness calls a loop that calls the function.
	loop := []byte{0x53, 0xbb, 0xe8, 0x03, 0, 0, 0xe8, 0, 0, 0, 0, 0xff, 0xcb, 0x75, 0xf7, 0x5b, 0xc3} // push %rbx; mov $1000,%ebx; call; dec %ebx; jne call; pop %rbx; ret
	binary.LittleEndian.PutUint32(loop[7:], helperAt-functionAt-11)
	for _, c := range []struct {
		name           string
		planted        bool
		careful, exact bool
	}{{"call alone", false, false, false}, {"flags dead", true, false, false}, {"flags preserved", true, true, false},
		{"flags dead, exact", true, false, true}, {"flags preserved, exact", true, true, true}} {
		b.Run(c.name, func(b *testing.B) {
			m := newMachine(b)
			copy(m.memory[functionAt:], loop)
			copy(m.memory[helperAt:], code)
			if c.planted {
				f := Function{Entry: helperAt, Patch: helperAt, Original: code[:8], Careful: c.careful}
				patch, trampoline, err := Emit(f, Placement{Bias: m.base, Trampoline: m.base + trampolineAt, Counter: m.base + counterAt, Exact: c.exact})
				if err != nil {
					b.Fatal(err)
				}
				copy(m.memory[helperAt:], patch)
				copy(m.memory[trampolineAt:], trampoline)
			}
			entry := &struct{ at uintptr }{uintptr(m.base) + harnessAt}
			for b.Loop() {
				(*(*func())(unsafe.Pointer(&entry)))()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/hit")
		})
	}
}

// BenchmarkEmit makes the patch of one function with a usual beginning.
func BenchmarkEmit(b *testing.B) {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20}
	f := Function{Original: code}
	for b.Loop() {
		if _, _, err := Emit(f, Placement{Trampoline: 0x10000, Counter: 0x20000}); err != nil {
			b.Fatal(err)
		}
	}
}
