package plan

import (
	"fmt"
	"math"
	"slices"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

const (
	// sortShare is the divisor of a worker's memory that gives the memory for sorting: the other half is for the
	// tasks' own programs and the page cache.
	sortShare = 2
	// sortPerCore is the most memory for sorting per core, in bytes. A larger buffer saves no pass over the data of
	// any split.
	sortPerCore = 1 << 30
	// leastSort is the least memory for sorting per core, in bytes, however small the machine.
	leastSort = 16 << 20
)

// DivideMachine divides the machine, which is the snapshot's largest node, among the job's workers: --workers of them, 1 by
// default, within the bounds of --nodes. Each gets an equal part of the cores, at least one, and of the memory. It
// returns an error of class job.User where a task fits no worker.
//
// Named hosts and rented machines have one worker each, see shareHosts. On a batch system Share returns the largest
// layout that the job could get, see shareBatch.
func DivideMachine(snap cluster.Snapshot, spec *job.Spec) (Layout, error) {
	return divideMachine(snap, spec, tasksOf(spec, 1))
}

// divideMachine is Share for a bag whose tasks may have different needs.
func divideMachine(snap cluster.Snapshot, spec *job.Spec, mix taskMix) (Layout, error) {
	if snap.Queue != nil {
		return shareBatch(snap, spec)
	}
	if spec.Request.Remote.Away() {
		return shareHosts(snap, spec, mix)
	}
	machine, err := largest(snap)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Nodes: 1, Speed: 1}
	l.nodes(&spec.Request)
	l.split(machine)
	l.sortMemory(&spec.Request)
	kinds := slices.Concat(mix, reduceKind(spec))
	workers := slices.Repeat([]job.Resources{l.PerNode}, l.Nodes)
	for i := range kinds {
		err := fitsWorker(kinds.named(i), machine, l)
		if err == nil {
			err = kinds.named(i).fitsTogether(workers, "worker")
		}
		if err != nil {
			return Layout{}, kinds.noRoom(i, err)
		}
	}
	l.setSlots(spec, mix, workers)
	return l, nil
}

// setSlots sets how many tasks run at once on the nodes: of bag tasks or maps the average, to the next whole number of slots that are so much slower.
func (l *Layout) setSlots(spec *job.Spec, mix taskMix, nodes []job.Resources) {
	tasks := mix.together(nodes)
	for _, n := range nodes {
		l.cores += n.CPUs
	}
	l.TaskSlots = throttled(spec, int(math.Ceil(float64(tasks)*(1-rounding))))
	l.Speed *= min(1, float64(tasks)/float64(max(1, l.TaskSlots)))
	l.ReduceSlots = int(reduceKind(spec).together(nodes))
}

// throttled returns how many of so many tasks of a job run at once.
func throttled[N int | slots](spec *job.Spec, tasks N) N {
	if spec.Bag != nil && spec.Bag.Throttle > 0 {
		return min(tasks, N(spec.Bag.Throttle))
	}
	return tasks
}

// largest returns the node with the most cores, of those with the most memory, of those with the most GPUs.
func largest(snap cluster.Snapshot) (cluster.Node, error) {
	if len(snap.Nodes) == 0 {
		return cluster.Node{}, job.TransientError(snap.Driver, "it has no node to run on", nil)
	}
	best := snap.Nodes[0]
	for _, n := range snap.Nodes[1:] {
		if bySize(n.Capacity, best.Capacity) > 0 {
			best = n
		}
	}
	return best, nil
}

// nodes sets the number of workers.
func (l *Layout) nodes(r *job.Request) {
	asked := max(r.Workers, 1)
	l.Nodes = max(asked, r.MinNodes)
	if r.MaxNodes > 0 {
		l.Nodes = min(l.Nodes, r.MaxNodes)
	}
	if r.Workers > 0 && l.Nodes != r.Workers {
		l.note("%d workers were requested, but --nodes allows %s: there will be %d", r.Workers, bounds(r), l.Nodes)
	}
}

// bounds returns the bounds on the number of nodes in words.
func bounds(r *job.Request) string {
	switch {
	case r.MaxNodes == 0:
		return fmt.Sprintf("no fewer than %d", r.MinNodes)
	case r.MinNodes == 0:
		return fmt.Sprintf("no more than %d", r.MaxNodes)
	}
	return fmt.Sprintf("%d to %d", r.MinNodes, r.MaxNodes)
}

// split gives each worker its part of the machine.
func (l *Layout) split(machine cluster.Node) {
	has := machine.Capacity
	l.PerNode = job.Resources{CPUs: max(1, has.CPUs/l.Nodes), Mem: has.Mem / int64(l.Nodes), GPUs: has.GPUs / l.Nodes, GPUType: has.GPUType}
	given := l.PerNode.CPUs * l.Nodes
	switch {
	case given > has.CPUs:
		l.Speed = float64(has.CPUs) / float64(given)
		l.note("%d workers share %s: up to %d tasks run at once, each on a part of a core (oversubscribed)",
			l.Nodes, job.Count(has.CPUs, "core"), given)
	case given < has.CPUs:
		l.note("%s left idle, as %d workers get equal shares of %d", job.Count(has.CPUs-given, "core"), l.Nodes, has.CPUs)
	}
}

// sortMemory sets the memory for sorting: the user's, or half of the worker's memory up to 1 GiB a core.
func (l *Layout) sortMemory(r *job.Request) {
	if r.SortMemory > 0 {
		l.SortMemory = r.SortMemory
		if l.PerNode.Mem > 0 && r.SortMemory > l.PerNode.Mem {
			l.note("--sort-memory %s is more than the %s that each worker has",
				job.FormatSize(r.SortMemory), job.FormatSize(l.PerNode.Mem))
		}
		return
	}
	cores := int64(l.PerNode.CPUs)
	l.SortMemory = max(min(l.PerNode.Mem/sortShare, cores*sortPerCore), cores*leastSort)
}

func (l *Layout) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// need is the resources of a kind of task, or of each rank of a gang, and the names and flags by which the user knows them.
type need struct {
	job.Resources
	job.Gang
	task, cpusFlag, memFlag string
}

// The flags for the GPUs of tasks of each kind, and for gangs.
const (
	gpusFlag  = "--gpus"
	ranksFlag = "--ranks"
	perFlag   = "--ranks-per-node"
)

// asNeeds returns the need as the needs of a task.
func (n *need) asNeeds() job.Needs {
	return job.Needs{CPUs: n.CPUs, Mem: n.Mem, GPUs: n.GPUs, GPUShare: n.GPUShare, GPUType: n.GPUType, Gang: n.Gang}
}

// Words returns what a task needs in words.
func (n *need) Words() string { return n.asNeeds().Words() }

// ranks returns how many processes a task is.
func (n *need) ranks() int { return max(1, n.Ranks) }

// whole returns what all ranks of a task need together.
func (n *need) whole() job.Resources { return n.Resources.Times(n.ranks()) }

// rooms returns for how many ranks each of the nodes has room.
func (n *need) rooms(nodes []job.Resources) []int {
	rooms := make([]int, len(nodes))
	for i, has := range nodes {
		rooms[i] = has.Slots(n.Resources)
	}
	return rooms
}

// onNode returns what a task needs of each of its nodes at least: all, one rank, or as many as each node is to have.
func (n *need) onNode() job.Resources {
	return n.Resources.Times(max(1, n.RanksPerNode))
}

// Fits reports whether a node of that size has what a task needs of each of its nodes at least.
func (n *need) Fits(size job.Resources) bool { return n.onNode().Fits(size) }

// withoutGPUs returns the other resources of a node.
func (n need) withoutGPUs() job.Resources {
	n.GPUs = 0
	return n.onNode()
}

// missing returns the resource that has does not suffice for, in words, and its flag.
func (n need) missing(has job.Resources) (flag, what string) {
	switch {
	case n.Several() && n.Resources.Fits(has):
		return perFlag, fmt.Sprintf("%s of %s on each of its nodes", job.Count(n.RanksPerNode, "rank"), n.Resources.Words())
	case n.CPUs > has.CPUs:
		flag, what = n.cpusFlag, job.Count(n.CPUs, "core")
	case n.Mem > has.Mem:
		flag, what = n.memFlag, job.FormatSize(n.Mem)+" of memory"
	default:
		flag, what = gpusFlag, n.GPUWords()
	}
	if n.Several() {
		what += " for each rank"
	}
	return flag, what
}

// tasksOf returns so many bag tasks or maps that all need what the job's do.
func tasksOf(spec *job.Spec, n int) taskMix {
	if spec.Kind == job.Bag {
		return taskMix{{need: taskNeed(spec.Bag.Needs()), tasks: n}}
	}
	return taskMix{{need: need{spec.MapReduce.MapNeed, job.Gang{}, "map", "--cpus-per-task", "mapreduce.map.memory.mb"}, tasks: n}}
}

// reduceKind returns the reduces of a job, if it has any.
func reduceKind(spec *job.Spec) taskMix {
	if spec.Kind == job.Bag || spec.MapReduce.Reduces == 0 {
		return nil
	}
	return taskMix{{need: need{spec.MapReduce.ReduceNeed, job.Gang{}, "reduce", "--cpus-per-task", "mapreduce.reduce.memory.mb"}}}
}

// taskNeed returns the needs of a bag's task.
func taskNeed(n job.Needs) need {
	return need{n.Resources(), n.Gang, "task", "--cpus-per-task", "--mem"}
}

// fitsTogether returns an error of class job.User where workers of that name do not hold a gang together.
func (n need) fitsTogether(workers []job.Resources, name string) error {
	rooms, room := n.rooms(workers), 0
	if !n.Several() || n.FitsIn(rooms) {
		return nil
	}
	for _, r := range rooms {
		room += r
	}
	if per := n.RanksPerNode; per > 0 && room >= n.Ranks {
		return job.ConfigError(perFlag, fmt.Sprintf("a %s of %s, needs %s with room for so many", n.task, n.Words(), job.Count(ceilDiv(n.Ranks, per), name)), "put more ranks on each node, or have more "+name+"s")
	}
	return job.ConfigError(ranksFlag, fmt.Sprintf("a %s needs %s, but there is room for %d of them", n.task, n.Words(), room), "request fewer ranks, or less for each")
}

// fitsWorker returns an error of class job.User where a task does not fit a worker. It says what the worker has.
func fitsWorker(n need, machine cluster.Node, l Layout) error {
	if n.Fits(l.PerNode) {
		return nil
	}
	flag, asks := n.missing(l.PerNode)
	what, do := fmt.Sprintf("a %s needs %s, but node %s has %s", n.task, asks, machine.Name, machine.Capacity.Words()), "request less"
	if n.Fits(machine.Capacity) {
		what = fmt.Sprintf("a %s needs %s, but each of %d workers on node %s has %s", n.task, asks, l.Nodes, machine.Name, l.PerNode.Words())
		do = "request less, or fewer workers"
	}
	return job.ConfigError(flag, what, do)
}
