package cluster

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// View is the worker for which nodes are counted: a node is free when a worker of that size can begin on it.
type View struct {
	Partition   string        // "": the default one, or all nodes where there are no partitions
	PerNode     job.Resources // of a worker, one per node; at least one core
	Whole       bool          // it shares its node with no job
	Constraint  string        // required features of nodes, in the form of sbatch --constraint
	Reservation string        // whose nodes are used; "": none
	Asks        string        // the user's own arguments for the batch system
	Account     string        // of the request; "": the user's default one
	Nodes       int           // of a request that may go before pending jobs by its size (Rank); 0: it goes behind all
}

// AskedGPUs is a word of requests for GPUs, for Partition.Forced.
const AskedGPUs = "GPUs"

// Facts is what a timeline leaves out of its snapshot.
type Facts struct {
	Usable   int        // nodes that could hold a worker
	Excluded []Excluded // the partition's other nodes, the commonest reason first
	Unseen   int        // usable nodes with unlisted jobs
	// Numbers of pending jobs for the same nodes that are left out of the timeline, because
	Held     int // they cannot start by themselves
	Closed   int // their partition is closed
	Unplaced int // the timeline never has enough nodes for them

	NotUnderstood []string // what was ignored, in words
}

// Excluded is a number of nodes that could not hold a worker, and the reason.
type Excluded struct {
	Reason string
	Nodes  int
}

// Timeline returns the number of nodes that are free for a worker, from the instant of the snapshot on, by the rules
// of docs/models.md: running jobs keep their nodes up to their limits, and pending ones start when the batch system
// plans it, or where backfilling in the order of their priority places them.
func (s *Snapshot) Timeline(v View) (*timeline.Timeline, Facts) {
	l := s.lineup(v)
	l.line = timeline.New(s.At, 0)
	l.sweepUses()
	l.pending()
	return l.line, l.facts
}

// lineup is the state of one computation of a timeline.
type lineup struct {
	snap  *Snapshot
	queue *Queue
	view  View
	line  *timeline.Timeline
	facts Facts

	parts   map[string]*part
	nodes   []state // usable ones
	usable  []int32 // by node of the snapshot: its index in nodes, or none
	weights map[kind]float64
}

// none is the index of a node that is not usable.
const none int32 = -1

// lineup returns a lineup with its partitions and nodes.
func (s *Snapshot) lineup(v View) *lineup {
	v.PerNode.CPUs = max(v.PerNode.CPUs, 1)
	l := &lineup{snap: s, view: v, queue: s.Queue}
	if l.queue == nil {
		l.queue = &Queue{}
	}
	if l.queue.Hidden != "" {
		l.misunderstood(l.queue.Hidden)
	}
	l.findPartitions()
	l.findNodes()
	return l
}

// part is a partition with the sizes of its nodes.
type part struct {
	*Partition
	sizes []capacity // of its nodes; nil: not computed yet
}

func (l *lineup) findPartitions() {
	l.parts = make(map[string]*part, len(l.queue.Partitions))
	for i := range l.queue.Partitions {
		p := &l.queue.Partitions[i]
		l.parts[p.Name] = &part{Partition: p}
		if l.view.Partition == "" && p.Default {
			l.view.Partition = p.Name
		}
	}
}

// candidates returns the nodes of the partition, or all nodes where the partition is unknown.
func (l *lineup) candidates() []int {
	if p := l.parts[l.view.Partition]; p != nil {
		l.view.Whole = l.view.Whole || p.Whole
		if p.Later != "" {
			l.misunderstood(p.Later)
		}
		return p.Nodes
	}
	if l.view.Partition != "" {
		l.misunderstood("there is no partition " + strconv.Quote(l.view.Partition) + "; all nodes are counted")
	} else if len(l.queue.Partitions) > 0 {
		l.misunderstood("no partition is the default; all nodes are counted")
	}
	all := make([]int, len(l.snap.Nodes))
	for i := range all {
		all[i] = i
	}
	return all
}

func (l *lineup) misunderstood(what string) {
	l.facts.NotUnderstood = append(l.facts.NotUnderstood, what)
}

// findNodes sets the nodes that could hold a worker.
func (l *lineup) findNodes() {
	candidates := l.candidates()
	if _, ok := satisfies(l.view.Constraint, nil); !ok {
		l.misunderstood("constraint " + strconv.Quote(l.view.Constraint) + ": only names with & | , and parentheses are understood; all nodes are counted")
		l.view.Constraint = ""
	}
	reserved := l.reserved()
	l.usable = make([]int32, len(l.snap.Nodes))
	for i := range l.usable {
		l.usable[i] = none
	}
	excluded := map[string]int{}
	for _, i := range candidates {
		if i < 0 || i >= len(l.snap.Nodes) || l.usable[i] != none {
			continue
		}
		if why := l.unusable(i, reserved); why != "" {
			excluded[why]++
			continue
		}
		l.usable[i] = int32(len(l.nodes))
		l.nodes = append(l.nodes, state{free: l.snap.Nodes[i].Capacity, node: i})
	}
	l.facts.Usable = len(l.nodes)
	for _, why := range slices.Sorted(maps.Keys(excluded)) {
		l.facts.Excluded = append(l.facts.Excluded, Excluded{why, excluded[why]})
	}
	slices.SortStableFunc(l.facts.Excluded, func(a, b Excluded) int { return b.Nodes - a.Nodes })
}

// reserved returns the reservation that the view names; nil if it names none or one that the user may not use.
func (l *lineup) reserved() *Reservation {
	for i, r := range l.queue.Reservations {
		if r.Name == l.view.Reservation && l.admits(&l.queue.Reservations[i]) {
			return &l.queue.Reservations[i]
		}
	}
	return nil
}

// admits reports whether a request of the view may use a reservation. It may where its account, or those above it, are not known.
func (l *lineup) admits(r *Reservation) bool {
	as := l.queue.Accounting.association(l.view.Account, l.view.Partition)
	return r.Mine && (as == nil || listed(r.Accounts, func(name string) bool { return name == as.Account || l.queue.Accounting.within(as.Account, name) }))
}

// unusable returns the reason why a node could not hold a worker, or an empty string.
func (l *lineup) unusable(i int, r *Reservation) string {
	n := &l.snap.Nodes[i]
	matches, _ := satisfies(l.view.Constraint, n.Features)
	rest := l.view.PerNode
	rest.GPUs = 0
	switch {
	case n.Down != "":
		return n.Down
	case !rest.Fits(n.Capacity):
		return "too small"
	case !l.view.PerNode.Fits(n.Capacity):
		return "lacks " + l.view.PerNode.GPUWords()
	case !matches:
		return "lacks " + l.view.Constraint
	case !l.named(i):
		return "only for requests of " + l.parts[l.view.Partition].Forced[i] + ", as by --constraint"
	case l.view.Reservation != "" && (r == nil || !slices.Contains(r.Nodes, i)):
		return "not in reservation " + l.view.Reservation
	}
	return ""
}

// named reports whether the request names what it must to run on a node.
func (l *lineup) named(i int) bool {
	p := l.parts[l.view.Partition]
	if p == nil || p.Forced[i] == "" {
		return true
	}
	words := strings.FieldsFunc(l.view.Constraint+" "+l.view.Asks, func(r rune) bool { return strings.ContainsRune(" ,=&|()", r) })
	if l.view.PerNode.GPUs > 0 {
		words = append(words, AskedGPUs)
	}
	yes, _ := satisfies(p.Forced[i], words)
	return yes
}
