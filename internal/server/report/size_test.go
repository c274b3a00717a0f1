package report

import (
	"testing"
	"unsafe"
)

// TestTaskIsSmall: a bag of a million tasks must not weigh on the coordinator.
func TestTaskIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(task{}); n > 8 {
		t.Errorf("%d bytes are kept for each task", n)
	}
}
