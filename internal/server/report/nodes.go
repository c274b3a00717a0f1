package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Node states.
const (
	NodeUp      = "up"
	NodeLost    = "lost" // its worker does not answer; it may come back
	NodeGone    = "gone" // it and its files are gone
	NodeUnknown = "unknown"
)

// Nodes is the fold of the records of nodes and allocations: it keeps the state of each.
// It is safe for concurrent use, because jobs with locks of their own share it.
type Nodes struct {
	mu     sync.RWMutex
	nodes  map[job.NodeID]*nodeState
	allocs map[job.AllocID]*alloc
}

// nodeState is the state of a node.
type nodeState struct {
	NodeView          // without the counts of a job's attempts
	work     float64  // core-seconds that attempts of all jobs used there
	gone     job.Time // when it was gone; 0: it is not
	holds    int      // cores that its allocation holds with it
}

// NewNodes returns the fold of no records.
func NewNodes() *Nodes {
	return &Nodes{nodes: map[job.NodeID]*nodeState{}, allocs: map[job.AllocID]*alloc{}}
}

// Apply applies the next entry. Records of jobs change nothing.
func (n *Nodes) Apply(e event.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch r := e.Record.(type) {
	case event.AllocRequested:
		q := r.Request
		n.allocs[r.Alloc] = &alloc{request: q, job: r.Job, holding: holding{asked: e.At, shares: map[job.ID]*share{}}, AllocView: AllocView{
			Alloc: string(r.Alloc), Partition: q.Batch.Partition, State: AllocWaiting, Nodes: q.Nodes, PerNode: q.PerNode,
			TimeS: round(q.Time.Seconds()), Requested: e.At.Std(), Start: stamp(q.Start),
		}}
	case event.AllocBegan:
		if a := n.begin(r.Alloc, e.At); a != nil {
			a.Ends = stamp(r.Ends)
		}
	case event.AllocPaused:
		if a := n.allocs[r.Alloc]; a != nil {
			a.pause(e.At, r.Paused)
		}
	case event.AllocUsed:
		if a := n.allocs[r.Alloc]; a != nil {
			a.applyUsed(r)
		}
	case event.NodeJoined:
		n.countUp(r.Node, NodeUp)
		n.begin(r.Node.Alloc(), e.At)
		have := cmp.Or(n.nodes[r.Node], &nodeState{})
		n.nodes[r.Node] = have
		n.holdNode(e.At, r.Node, r.Capacity.CPUs)
		have.gone, have.NodeView = 0, NodeView{Node: string(r.Node), Host: r.Host, Resources: r.Capacity, State: NodeUp}
	case event.NodeLost:
		state := NodeLost
		if r.Gone {
			state = NodeGone
		}
		n.set(e.At, r.Node, state, r.Reason)
	case event.AllocEnded:
		if a := n.allocs[r.Alloc]; a != nil {
			a.leaveQueue(AllocOver)
			a.ended, a.Ended, a.Reason, a.Up = e.At, stamp(e.At), r.Reason, 0
		}
		for id := range n.nodes {
			if id.Alloc() == r.Alloc {
				n.set(e.At, id, NodeGone, r.Reason)
			}
		}
	}
}

// Dismiss removes the allocations that ended before the given time, and their nodes, from
// memory, and returns them, the oldest first. The caller passes the time at which the oldest job that is still shown was submitted,
// or 0 if no job is shown: then all allocations that have ended are removed.
func (n *Nodes) Dismiss(before job.Time) (gone []job.AllocID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	over := func(a *alloc) bool { return a != nil && a.ended != 0 && (before == 0 || a.ended < before) }
	maps.DeleteFunc(n.nodes, func(id job.NodeID, _ *nodeState) bool { return over(n.allocs[id.Alloc()]) })
	for id, a := range n.allocs {
		if over(a) {
			gone = append(gone, id)
			delete(n.allocs, id)
		}
	}
	slices.SortFunc(gone, func(a, b job.AllocID) int { return compareNodes(string(a), string(b)) })
	return gone
}

// set changes the state of a node. It ignores unknown nodes.
func (n *Nodes) set(at job.Time, id job.NodeID, state, reason string) {
	have := n.nodes[id]
	if have == nil {
		return
	}
	n.countUp(id, state)
	have.State, have.Reason = state, reason
	if state == NodeGone && have.gone == 0 {
		n.holdNode(at, id, 0)
		have.gone = at
	}
}

// holdNode notes how many cores a node has from now on. A batch system gives those that were requested as long as the allocation lasts, and
// where it gives whole nodes, more. A worker that joins goes on.
func (n *Nodes) holdNode(at job.Time, id job.NodeID, cores int) {
	a, have := n.allocs[id.Alloc()], n.nodes[id]
	if a == nil || a.ended != 0 {
		return
	}
	if cores > 0 {
		a.pause(at, false)
	}
	if a.request.Elastic {
		cores = max(have.holds, cores-a.request.PerNode.CPUs)
	}
	a.hold(at, cores-have.holds)
	have.holds = cores
}

// countUp updates the number of an allocation's nodes that are up, before the state of one
// of them changes to the given one.
func (n *Nodes) countUp(id job.NodeID, state string) {
	a := n.allocs[id.Alloc()]
	if a == nil || a.ended != 0 {
		return
	}
	if have := n.nodes[id]; have != nil && have.State == NodeUp {
		a.Up--
	}
	if state == NodeUp {
		a.Up++
		a.Note = "" // what kept its nodes from work
	}
}

// state returns the state of a node, NodeUnknown if no record names it.
func (n *Nodes) state(id job.NodeID) nodeState {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if have, ok := n.nodes[id]; ok {
		return *have
	}
	return nodeState{NodeView: NodeView{Node: string(id), State: NodeUnknown}}
}

// host returns a node's host name, or empty if it is unknown.
func (j *Job) host(id job.NodeID) string { return j.info.Nodes.state(id).Host }

// nodeUse counts a job's attempts on a node.
type nodeUse struct {
	running, done, failed int
	first                 job.Time // when its first attempt there began
	work                  float64  // core-seconds of its attempts
	before                float64  // core-seconds of all jobs there when its first attempt began
	joules                float64  // measured
}

// useNode returns the nodeUse of a node where an attempt begins at that time.
func (j *Job) useNode(id job.NodeID, at job.Time) *nodeUse {
	u := j.nodeUse(id)
	if u.first == 0 {
		u.first, u.before = at, j.info.Nodes.state(id).work
		for i := range j.tasks.groups {
			for k := range j.tasks.groups[i].phases {
				j.tasks.groups[i].phases[k].paceFrom, j.tasks.groups[i].phases[k].paceDone = at, 0
			}
		}
	}
	return u
}

func (j *Job) nodeUse(id job.NodeID) *nodeUse {
	u := j.use[id]
	if u == nil {
		u = &nodeUse{}
		j.use[id] = u
	}
	return u
}

// NodeView describes a node that ran attempts of the job.
type NodeView struct {
	Node          string `json:"node"` // allocation and rank, `a3/0`
	Host          string `json:"host"` // name of the machine; empty: not known
	job.Resources        // 0, or empty: not known
	State         string `json:"state"`            // `up`, `lost` (its worker does not answer), `gone` (nor will it), `unknown`
	Reason        string `json:"reason,omitempty"` // why it is lost or gone
	Running       int    `json:"running"`          // attempts of this job
	Done          int    `json:"done"`             // attempts of this job
	Failed        int    `json:"failed"`           // attempts of this job
}

// nodeViews returns the nodes that the job used, sorted by their ids.
func (j *Job) nodeViews() []NodeView {
	views := make([]NodeView, 0, len(j.use))
	for id, u := range j.use {
		v := j.info.Nodes.state(id).NodeView
		v.Running, v.Done, v.Failed = u.running, u.done, u.failed
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b NodeView) int { return compareNodes(a.Node, b.Node) })
	return views
}

// compareNodes orders node ids as people do: a2/0 before a2/10 before a10/0.
func compareNodes(a, b string) int {
	allocA, rankA, _ := strings.Cut(a, "/")
	allocB, rankB, _ := strings.Cut(b, "/")
	return cmp.Or(cmp.Compare(len(allocA), len(allocB)), strings.Compare(allocA, allocB),
		cmp.Compare(len(rankA), len(rankB)), strings.Compare(rankA, rankB))
}
