package cluster

import (
	"slices"
	"strings"
)

// Physical returns the snapshot in cores, where arguments of a request ask for one thread of each (Words.Cores) and the batch system
// counts each hardware thread as a CPU. Else it is unchanged. All nodes of a job, or of a partition, count as the first one.
func (s Snapshot) Physical(args []string) Snapshot {
	most := 1
	for _, n := range s.Nodes {
		most = max(most, n.Threads)
	}
	if s.Queue == nil || most == 1 || !s.Queue.Words.physical(args) {
		return s
	}
	queue, of := *s.Queue, make(map[string]int, len(s.Queue.Partitions)) // threads by partition
	first := func(nodes []int) int {
		if len(nodes) == 0 {
			return 1
		}
		return max(s.Nodes[nodes[0]].Threads, 1)
	}
	queue.Partitions, queue.Running, queue.Pending = slices.Clone(queue.Partitions), slices.Clone(queue.Running), slices.Clone(queue.Pending)
	for i := range queue.Partitions {
		p := &queue.Partitions[i]
		of[p.Name] = first(p.Nodes)
		p.MaxPerNode.CPUs = inCores(p.MaxPerNode.CPUs, of[p.Name])
	}
	for i := range queue.Running {
		queue.Running[i].inCores(first(queue.Running[i].Nodes))
	}
	for i := range queue.Pending {
		queue.Pending[i].inCores(max(of[queue.Pending[i].Partition], 1))
	}
	queue.Accounting = queue.Accounting.physical(int64(most))
	nodes := slices.Clone(s.Nodes)
	for i := range nodes {
		n := &nodes[i]
		t := max(n.Threads, 1)
		n.Capacity.CPUs, n.Free.CPUs, n.Threads = n.Capacity.CPUs/t, n.Free.CPUs/t, 0
	}
	s.Nodes, s.Queue = nodes, &queue
	return s
}

// physical reports whether arguments ask for cores. Of an argument that is there several times the last counts.
func (w *Words) physical(args []string) (yes bool) {
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		later := slices.ContainsFunc(args[i+1:], func(other string) bool { return strings.HasPrefix(other, name+"=") })
		yes = yes || !later && slices.Contains(w.Cores, arg)
	}
	return yes
}

// physical returns the limits in cores with that many threads each.
func (a *Accounting) physical(threads int64) *Accounting {
	if a == nil {
		return nil
	}
	own := Accounting{slices.Clone(a.Associations), slices.Clone(a.QOS), slices.Clone(a.Accounts)}
	for i := range own.Associations {
		own.Associations[i].Bounds.physical(threads)
	}
	for i := range own.QOS {
		own.QOS[i].Bounds.physical(threads)
		own.QOS[i].MinCPUs = (own.QOS[i].MinCPUs + threads - 1) / threads
	}
	for i := range own.Accounts {
		own.Accounts[i].CPUs = inCores(own.Accounts[i].CPUs, threads)
	}
	return &own
}

func (b *Bounds) physical(threads int64) {
	for _, i := range []Bound{JobCPUs, GroupCPUs, UserCPUs} {
		b[i] = inCores(b[i], threads)
	}
}

// inCores rounds up, as no two jobs share a core.
func (j *Queued) inCores(threads int) { j.PerNode.CPUs = (j.PerNode.CPUs + threads - 1) / threads }

// inCores returns a bound in cores, rounded down to one at least; 0 is no bound.
func inCores[T int | int64](bound, threads T) T { return max(bound/threads, min(bound, 1)) }
