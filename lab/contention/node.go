package contention

import (
	"math"
	"slices"
)

// Resource is a resource that the flows on a node share.
type Resource int

// The resources. The network receives and sends at the same time, each at its full rate.
const (
	CPU  Resource = iota // cores of speed 1
	Disk                 // bytes/s read and written
	In                   // bytes/s from other nodes
	Out                  // bytes/s to other nodes
	Resources
)

// Rates is an amount of each resource per second.
type Rates [Resources]float64

// done is the amount of work, in seconds at full speed, that counts as rounding error.
const done = 1e-6

// Flow is something that runs on a node: a phase, or the part of a transfer on the node from which
// data is read.
type Flow struct {
	Demand Rates   // at speed 1
	Limit  float64 // the highest speed of the flow on its node, above 0; 1 is full speed on the node on which Demand was measured
	Left   float64 // seconds of work at speed 1 that remained at the node's last change
	Owner  any     // for the caller

	speed float64 // the present speed
}

// Speed returns the present speed of the flow.
func (f *Flow) Speed() float64 { return f.speed }

// Node is a node and the flows on it.
type Node struct {
	capacity Rates
	present  Rates // what the flows can share now
	loss     float64
	flows    []*Flow
	used     Rates   // resource × seconds, up to at
	at       float64 // the time up to which the flows have advanced
	stale    bool    // flows were added or removed since the speeds were computed

	wants   []float64 // buffer for levels
	growing []*Flow   // buffer for fill
}

// NewNode returns a node of the given capacity without flows, at time 0. If k flows use its disk, each byte takes
// 1 + loss·(k−1) times as long as with one.
func NewNode(capacity Rates, loss float64) *Node { return &Node{capacity: capacity, loss: loss} }

// Add starts a flow on the node.
func (n *Node) Add(now float64, f *Flow) {
	n.Advance(now)
	f.speed = 0
	n.flows = append(n.flows, f)
	n.stale = true
}

// Remove removes a flow from the node. It does nothing if the flow is not on the node.
func (n *Node) Remove(now float64, f *Flow) {
	n.Advance(now)
	if i := slices.Index(n.flows, f); i >= 0 {
		n.flows = slices.Delete(n.flows, i, i+1)
		n.stale = true
	}
}

// Advance advances all flows to now. Later calls must not use an earlier time.
func (n *Node) Advance(now float64) {
	span := now - n.at
	if span <= 0 {
		return
	}
	n.update()
	n.at = now
	for _, f := range n.flows {
		work := min(f.Left, f.speed*span)
		f.Left -= work
		if f.Left < done {
			f.Left = 0
		}
		for r, d := range f.Demand {
			n.used[r] += float64(d * work)
		}
	}
}

// Ended removes the flows that have ended by now and appends them to to, in the order in which they
// were added.
func (n *Node) Ended(now float64, to []*Flow) []*Flow {
	n.Advance(now)
	n.flows = slices.DeleteFunc(n.flows, func(f *Flow) bool {
		if f.Left > 0 {
			return false
		}
		to = append(to, f)
		n.stale = true
		return true
	})
	return to
}

// Next returns when the next flow ends if none is added or removed, or +Inf without flows.
func (n *Node) Next() float64 {
	n.update()
	next := math.Inf(1)
	for _, f := range n.flows {
		if f.Left <= 0 {
			return n.at
		}
		next = min(next, n.at+f.Left/f.speed)
	}
	return next
}

// Used returns the total use of each resource so far, in core-seconds and bytes.
func (n *Node) Used() Rates { return n.used }

func (n *Node) update() {
	if n.stale {
		n.stale = false
		n.share()
	}
}
