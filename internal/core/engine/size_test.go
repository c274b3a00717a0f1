package engine

import (
	"testing"
	"unsafe"
)

// TestStateOfJobIsSmall: what each job of ten thousand has, whether it runs or waits, stays small: each event passes over all of them. What few
// jobs need, or few phases, is behind a pointer.
func TestStateOfJobIsSmall(t *testing.T) {
	const most = 4096 // bytes
	if size := unsafe.Sizeof(jobState{}); size > most {
		t.Errorf("the state of a job has %d bytes; it may have %d", size, most)
	}
}
