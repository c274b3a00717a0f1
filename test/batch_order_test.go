package test

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestBatchOrder runs a large bag on the only node of a cluster. A small bag that waits for
// the same node runs first by default, before its own turn in
// the queue. Its own request is withdrawn when it is done, unless allocations are kept.
func TestBatchOrder(t *testing.T) { onEach(t, testOrder) }

func testOrder(t *testing.T, s system) {
	s.atLeisure(t)
	for _, c := range []struct {
		name, keep string
		order      string
		before     int // tasks of the large bag that start before those of the small one
	}{
		{"by default", "", "", 1},
		{"kept, first in, first out", "1", "fifo", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, _ := s.world(t, 1)
			w.batch = append(w.batch, "BERTH_KEEP="+c.keep, "BERTH_ORDER="+c.order)
			w.write("task.sh", "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.2; done\n")
			submit := func(tasks int) job.ID {
				before := len(w.jobs())
				w.must("bag", "--detach", "--on", s.name, "-N", "1-1", "-t", "5", "--no-scout", "--max-allocs", "1", "-c", "2",
					"--array", fmt.Sprintf("1-%d", tasks), "--", "./task.sh", "{}")
				return w.jobs()[before]
			}
			large := submit(6)
			w.await("the first task to begin", func() bool { return len(starts(w.tryRecords(large))) == 1 })
			small := submit(1)
			told := w.must("explain", string(large)).stdout + w.must("explain", string(small)).stdout
			if first := "1 job with less left to do goes first: " + string(small); strings.Contains(told, first) != (c.before == 1) {
				t.Errorf("who goes first is not told:\n%s", told)
			}
			if lent := "it may be given back once " + string(large); strings.Contains(told, lent) != (c.keep == "") {
				t.Errorf("what becomes of the large bag's allocation is not told:\n%s", told)
			}
			w.write("go", "")
			w.must("wait", string(small))
			w.must("wait", string(large))
			if begun := w.startsBefore(large, small); begun != c.before {
				t.Errorf("%d tasks of the large bag began before those of the small one, want %d", begun, c.before)
			}
			if withdrawn := w.withdrawn(); withdrawn != (c.keep == "") {
				t.Errorf("an allocation was given back with its job: %t", withdrawn)
			}
		})
	}
}

// withdrawn reports whether an allocation was released because its own job was done.
func (w *world) withdrawn() bool {
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocEnded); ok && strings.Contains(r.Reason, "other jobs have allocations of their own") {
			return true
		}
	}
	return false
}
