package engine

import (
	"testing"
	"unsafe"
)

// TestTaskIsSmall: a bag of ten million tasks must not weigh on the coordinator.
func TestTaskIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(task{}); n > 16 {
		t.Errorf("%d bytes are kept for each task", n)
	}
}
