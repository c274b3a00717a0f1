package code

import (
	"bytes"
	"testing"
)

// TestEmit checks a usual beginning of a function, after endbr64: the jump has five bytes, the rest
// of the last displaced instruction is filled, and the trampoline counts, executes what was
// displaced, and jumps back.
func TestEmit(t *testing.T) {
	original := []byte{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20} // push %rbp; mov %rsp,%rbp; sub $32,%rsp
	f := Function{Name: "f", Entry: 0x1000, Patch: 0x1004, Original: original}
	patch, trampoline, err := Emit(f, Placement{Bias: 0x400000, Trampoline: 0x500000, Counter: 0x600000})
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{0xe9, 0xf7, 0xef, 0x0f, 0x00, 0xcc, 0xcc, 0xcc}; !bytes.Equal(patch, want) {
		t.Errorf("patch % x, want % x", patch, want)
	}
	want := append([]byte{0x48, 0xff, 0x05, 0xf9, 0xff, 0x0f, 0x00}, original...)
	want = append(want, 0xe9, 0xf8, 0x0f, 0xf0, 0xff)
	if !bytes.Equal(trampoline, want) {
		t.Errorf("trampoline % x, want % x", trampoline, want)
	}
}
