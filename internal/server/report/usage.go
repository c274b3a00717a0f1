package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"berth/internal/core/job"
)

// usageBuckets is the largest number of time steps of a Usage.
const usageBuckets = 256

// Usage is the fold of the use of nodes by phases of jobs over time: cores, memory, disk and network. The use by
// a phase is spread evenly over its duration; for memory it is the peak. The size of a Usage does not grow with
// the number of attempts: when their time span needs more than usageBuckets steps, steps become twice as long.
type Usage struct {
	step       time.Duration
	start, end job.Time // of the phases on all nodes; end is in the last step, 0: there are none
	nodes      map[job.NodeID]*nodeUsage
}

// nodeUsage is the use of one node, by step, counted from time 0: core-seconds, byte-seconds of memory, and bytes of disk and network.
type nodeUsage struct {
	takes   map[int64][4]float64
	missing job.ResourceSet
}

// NewUsage returns the fold of no phases.
func NewUsage() *Usage {
	return &Usage{step: time.Millisecond, nodes: map[job.NodeID]*nodeUsage{}}
}

// Add adds the use of a node by the phases of an attempt.
func (u *Usage) Add(id job.NodeID, stats []job.PhaseStat) {
	for _, s := range stats {
		if s.Start <= 0 || s.End < s.Start {
			continue
		}
		if s.End == s.Start {
			s.End++ // a phase without a duration counts too
		}
		u.span(s.Start, s.End-1)
		n := u.nodes[id]
		if n == nil {
			n = &nodeUsage{takes: map[int64][4]float64{}}
			u.nodes[id] = n
		}
		n.missing |= s.Missing
		n.add(s, int64(u.step))
	}
}

// span makes room for times from start to end.
func (u *Usage) span(start, end job.Time) {
	u.start, u.end = min(cmp.Or(u.start, start), start), max(u.end, end)
	for u.stepOf(u.end)-u.stepOf(u.start) >= usageBuckets {
		u.step *= 2
		for _, n := range u.nodes {
			n.halve()
		}
	}
}

// stepOf returns in which step an instant is.
func (u *Usage) stepOf(t job.Time) int64 { return int64(t) / int64(u.step) }

// halve makes one step of two.
func (n *nodeUsage) halve() {
	half := map[int64][4]float64{}
	for _, step := range slices.Sorted(maps.Keys(n.takes)) { // in order, as sums of floats depend on it
		half[step/2] = plus(half[step/2], n.takes[step])
	}
	n.takes = half
}

func plus(a, b [4]float64) [4]float64 {
	for r := range a {
		a[r] += b[r]
	}
	return a
}

// add spreads the use by a phase over its steps.
func (n *nodeUsage) add(s job.PhaseStat, step int64) {
	whole := float64(s.End - s.Start)
	for i := int64(s.Start) / step; i <= int64(s.End-1)/step; i++ {
		part := float64(min(int64(s.End), (i+1)*step) - max(int64(s.Start), i*step))
		share := part / whole
		n.takes[i] = plus(n.takes[i], [4]float64{
			job.CPU: s.CPU.Seconds() * share, job.Memory: float64(s.PeakMemory) * part / 1e9,
			job.Disk: float64(s.DiskBytes) * share, job.Net: float64(s.NetBytes) * share,
		})
	}
}

// UsageView is the use of nodes by jobs over time, in steps of equal length. It does not contain the phases of
// running attempts.
type UsageView struct {
	Jobs  []job.ID        `json:"jobs"`           // ids of the jobs whose phases are summed
	Start time.Time       `json:"start,omitzero"` // when the first step begins; may be absent: no phase is over
	StepS float64         `json:"step_s"`         // how long a step lasts
	Nodes []NodeUsageView `json:"nodes"`          // the nodes that the jobs ran on
}

// NodeUsageView is the use of one node.
type NodeUsageView struct {
	Node string       `json:"node"`     // allocation and rank, `a3/0`
	Host string       `json:"host"`     // name of the machine; empty: not known
	CPU  ResourceView `json:"cpu"`      // cores
	Mem  ResourceView `json:"mem"`      // bytes of memory, from the peaks of the phases
	Disk ResourceView `json:"disk_bps"` // bytes a second that were read from files or written to them
	Net  ResourceView `json:"net_bps"`  // bytes a second that were moved between nodes
}

// ResourceView is the use of one resource of a node.
type ResourceView struct {
	Capacity float64   `json:"capacity"`            // amount that the node has; 0: not known
	Mean     float64   `json:"mean"`                // mean over all steps
	Max      float64   `json:"max"`                 // the greatest value of a step
	Used     []float64 `json:"used"`                // the mean of each step
	Unknown  bool      `json:"unmeasured,omitzero"` // the use of some phases could not be measured
}

// Of returns the use of one resource.
func (n *NodeUsageView) Of(r job.Resource) *ResourceView {
	return [...]*ResourceView{&n.CPU, &n.Mem, &n.Disk, &n.Net}[r]
}

// View returns the view of the use of nodes by these jobs.
func (u *Usage) View(jobs []job.ID, nodes []NodeView) UsageView {
	v := UsageView{Jobs: jobs, StepS: u.step.Seconds(), Nodes: []NodeUsageView{}}
	if u.end == 0 {
		return v
	}
	v.Start = job.Time(u.stepOf(u.start) * int64(u.step)).Std()
	known := map[string]NodeView{}
	for _, n := range nodes {
		known[n.Node] = n
	}
	ids := slices.SortedFunc(maps.Keys(u.nodes), func(a, b job.NodeID) int { return compareNodes(string(a), string(b)) })
	for _, id := range ids {
		v.Nodes = append(v.Nodes, u.nodeView(id, known[string(id)]))
	}
	return v
}

func (u *Usage) nodeView(id job.NodeID, known NodeView) NodeUsageView {
	n, v := u.nodes[id], NodeUsageView{Node: string(id), Host: known.Host}
	has, first := known.Vector(), u.stepOf(u.start)
	for _, r := range job.AllResources() {
		to := v.Of(r)
		to.Capacity, to.Unknown = float64(has.Of(r)), n.missing.Has(r)
		if r == job.CPU {
			to.Capacity /= job.Milli
		}
		to.Used = make([]float64, u.stepOf(u.end)-first+1)
		for i := range to.Used {
			used := n.takes[first+int64(i)][r] / u.step.Seconds()
			to.Used[i] = round(used)
			to.Max = max(to.Max, round(used))
			to.Mean += used
		}
		to.Mean = round(to.Mean / float64(len(to.Used)))
	}
	return v
}
