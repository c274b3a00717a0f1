package code

import (
	"slices"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestNamesAreInstructions: each name in the tables of effects is one of x86asm's, so that none is misspelt.
func TestNamesAreInstructions(t *testing.T) {
	known := map[string]bool{}
	for op := x86asm.Op(1); op.String() != "" && op < 1<<12; op++ {
		known[op.String()] = true
	}
	names := slices.Clone(silent())
	for name := range effects() {
		names = append(names, name)
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("x86asm has no instruction %s", name)
		}
	}
	if len(names) < 200 {
		t.Errorf("the tables have only %d names", len(names))
	}
}
