package rundir

import (
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
)

// TestNeedsOfEntries: entries are counted by what their columns need, rounded up where a node has as much, and the first one that no node has
// room for is named.
func TestNeedsOfEntries(t *testing.T) {
	spec := job.New(job.Bag, t.TempDir())
	spec.Bag.Command, spec.Request.On = []string{"true", "{1}"}, "local"
	spec.Normalize()
	spec.Bag.NeedsFrom = &job.NeedsFrom{CPUs: 2, Mem: 3}
	has := job.Resources{CPUs: 8, Mem: 10000 << 20}
	snap := cluster.Snapshot{Driver: "local", Nodes: []cluster.Node{{Name: "n1", Capacity: has, Free: has}}}
	entries := []job.Entry{{"a", "", "1001M"}, {"b", "2", ""}, {"c", "", "1002M"}, {"d"}, {"e", "2", "9999M"}}
	own := EntryNeeds(spec.Bag, func(i int) job.Entry { return entries[i] })
	left, err := own.left(spec, len(entries), &snap)
	if err != nil {
		t.Fatal(err)
	}
	want := []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: 1}, {Needs: job.Needs{CPUs: 1, Mem: 1 << 30}, Waiting: 2},
		{Needs: job.Needs{CPUs: 2}, Waiting: 1}, {Needs: job.Needs{CPUs: 2, Mem: 9999 << 20}, Waiting: 1}}
	for i, l := range left {
		if w := want[i]; l.Waiting != w.Waiting || l.Needs.Resources() != w.Needs.Resources() {
			t.Errorf("needs %d: %d tasks of %s, want %d of %s", i, l.Waiting, l.Needs.Resources().Words(), w.Waiting, w.Needs.Resources().Words())
		}
	}
	entries = append(entries, job.Entry{"f", "9", "1G"}, job.Entry{"g", "9", "1G"})
	if left, err = own.left(spec, len(entries), &snap); err != nil {
		t.Fatal(err)
	}
	_, err = plan.Decide(plan.Question{Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: len(entries), Needs: left}})
	if err = own.nameTask(err, spec, len(entries)); job.ClassOf(err) != job.User || !strings.HasPrefix(err.Error(), "entry 6: the task needs 9 cores and 1G, but node n1 has 8 cores") {
		t.Errorf("error %v", err)
	}
}
