package cluster

import (
	"reflect"
	"testing"

	"berth/internal/core/job"
)

// TestPhysical: where a request asks for cores, what the batch system counts in threads counts in cores. Nodes whose CPUs are cores, and all
// that has another unit, stay as they are, and so does the snapshot that was given.
func TestPhysical(t *testing.T) {
	words := Words{Cores: []string{"--hint=nomultithread", "--threads-per-core=1"}}
	cpus := func(n int) job.Resources { return job.Resources{CPUs: n, Mem: 7} }
	limits := func(n int64) *Accounting {
		b := Bounds{JobNodes: 3, JobCPUs: n, GroupCPUs: n, UserCPUs: n}
		return &Accounting{Associations: []Association{{Account: "a", Bounds: b}}, QOS: []QOS{{Name: "q", MinCPUs: n &^ 1, Bounds: b}}, Accounts: []Account{{Name: "a", CPUs: n}}}
	}
	in := func(two, free, most, running, pending, threads int, limit int64) Snapshot {
		return Snapshot{Nodes: []Node{{Name: "t", Capacity: cpus(two), Free: cpus(free), Threads: threads}, {Name: "o", Capacity: cpus(8), Free: cpus(3)}}, Queue: &Queue{
			Words:      words,
			Partitions: []Partition{{Name: "main", Nodes: []int{0, 1}, MaxPerNode: cpus(most)}, {Name: "ones", Nodes: []int{1}, MaxPerNode: cpus(5)}, {Name: "empty"}},
			Running:    []Queued{{ID: "1", Nodes: []int{0}, PerNode: cpus(running)}, {ID: "2", Nodes: []int{1}, PerNode: cpus(5)}},
			Pending: []Queued{{ID: "3", Partition: "main", PerNode: cpus(pending)}, {ID: "4", Partition: "ones", PerNode: cpus(3)},
				{ID: "5", Partition: "gone", PerNode: cpus(3)}},
			Accounting: limits(limit)}}
	}
	threads, cores := func() Snapshot { return in(8, 3, 7, 5, 3, 2, 9) }, in(4, 1, 3, 3, 2, 0, 4)
	for _, c := range []struct {
		args  []string
		cores bool
	}{
		{nil, false},
		{[]string{"--hint=multithread"}, false},
		{[]string{"--hint=nomultithread"}, true},
		{[]string{"--threads-per-core=1", "--mail-type=END"}, true},
		{[]string{"--hint=nomultithread", "--hint=multithread"}, false}, // the last one counts
		{[]string{"--hint=multithread", "--hint=nomultithread"}, true},
		{[]string{"--threads-per-core=2"}, false},
	} {
		given, want := threads(), threads()
		if c.cores {
			want = cores
		}
		got := given.Physical(c.args)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v\nwant %+v", c.args, got, want)
		}
		if !reflect.DeepEqual(given, threads()) {
			t.Errorf("%q: the snapshot has changed", c.args)
		}
		if again := got.Physical(c.args); !reflect.DeepEqual(again, got) {
			t.Errorf("%q: the second time: %+v", c.args, again)
		}
	}
	unbounded := Snapshot{Nodes: []Node{{Capacity: cpus(1), Threads: 2}}, Queue: &Queue{Words: words, Partitions: []Partition{{Name: "p", Nodes: []int{0}}}}}
	got := unbounded.Physical([]string{"--hint=nomultithread"})
	if got.Queue.Partitions[0].MaxPerNode.CPUs != 0 || got.Queue.Accounting != nil || got.Nodes[0].Capacity.CPUs != 0 {
		t.Errorf("without bounds: %+v", got)
	}
	if one := (Snapshot{Nodes: unbounded.Nodes}).Physical([]string{"--hint=nomultithread"}); one.Nodes[0].Threads != 2 {
		t.Errorf("one machine: %+v", one)
	}
}
