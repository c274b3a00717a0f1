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

// TestJobIsSmall: each event passes over all jobs of a pool, which may be ten thousand. What few jobs or few phases need is behind a pointer.
func TestJobIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(jobState{}); n > 4096 {
		t.Errorf("%d bytes are kept for each job", n)
	}
}
