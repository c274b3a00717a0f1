package report

import (
	"maps"
	"slices"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestDismissNodes: Dismiss removes the allocations that ended before a time and their nodes, and keeps others.
func TestDismissNodes(t *testing.T) {
	n := NewNodes()
	for i, r := range []event.Record{
		event.AllocRequested{Alloc: "a1"}, event.AllocRequested{Alloc: "a10"}, event.AllocRequested{Alloc: "a2"},
		event.NodeJoined{Node: "a1/0", Host: "h"}, event.NodeJoined{Node: "a10/0", Host: "h"}, event.NodeJoined{Node: "a2/0", Host: "h"},
		event.AllocEnded{Alloc: "a1"}, event.AllocEnded{Alloc: "a2"},
	} {
		n.Apply(event.Entry{Seq: uint64(i + 1), At: job.Time(i + 1), Record: r})
	}
	for _, step := range []struct {
		before job.Time
		want   []job.NodeID
	}{
		{7, []job.NodeID{"a1/0", "a10/0", "a2/0"}},
		{8, []job.NodeID{"a10/0", "a2/0"}},
		{0, []job.NodeID{"a10/0"}},
	} {
		n.Dismiss(step.before)
		if got := slices.Sorted(maps.Keys(n.nodes)); !slices.Equal(got, step.want) || len(n.allocs) != len(step.want) {
			t.Errorf("before %d: %v, %d allocations", step.before, got, len(n.allocs))
		}
	}
}
