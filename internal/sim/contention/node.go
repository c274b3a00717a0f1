package contention

import (
	"math"
	"slices"
)

// Resource is what flows on a node share.
type Resource int

// The resources. The network of a node takes in and gives out at the same time, at its rate each.
const (
	CPU  Resource = iota // cores of speed 1
	Disk                 // bytes/s read and written
	In                   // bytes/s from other nodes
	Out                  // bytes/s to other nodes
	Resources
)

// Rates is an amount of each resource a second.
type Rates [Resources]float64

// done is how many seconds of work at full speed count as none: what rounding leaves.
const done = 1e-6

// Flow is something that runs on a node: a phase, or the part of a transfer on the node that is read from.
type Flow struct {
	Demand Rates   // while it advances at speed 1
	Limit  float64 // the fastest that it advances on its node, above 0; 1 is full speed on the node that Demand was measured on
	Left   float64 // seconds of work at speed 1 that are left, as of the node's last change
	Owner  any     // of the caller

	speed float64 // at which it advances
}

// Speed returns the speed at which the flow advances.
func (f *Flow) Speed() float64 { return f.speed }

// Node is a node and what runs there.
type Node struct {
	capacity Rates
	flows    []*Flow
	used     Rates   // of each resource × seconds, up to at
	at       float64 // up to when flows have advanced
	stale    bool    // a flow has come or gone since speeds were found

	wants   []float64 // room for levels
	growing []*Flow   // and for fill
}

// NewNode returns a node of that capacity without flows, at time 0.
func NewNode(capacity Rates) *Node { return &Node{capacity: capacity} }

// Add has a flow run on the node from now on.
func (n *Node) Add(now float64, f *Flow) {
	n.Advance(now)
	f.speed = 0
	n.flows = append(n.flows, f)
	n.stale = true
}

// Remove takes a flow off the node; one that is not there stays so.
func (n *Node) Remove(now float64, f *Flow) {
	n.Advance(now)
	if i := slices.Index(n.flows, f); i >= 0 {
		n.flows = slices.Delete(n.flows, i, i+1)
		n.stale = true
	}
}

// Advance lets all flows go on up to now. No flow may be added at an earlier time afterwards.
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

// Ended takes the flows off the node that are done by now and appends them to to, in the order in which they came.
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

// Next returns when the next flow will be done as things are, +Inf without any.
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

// Used returns what flows have used of each resource so far: core-seconds and bytes.
func (n *Node) Used() Rates { return n.used }

func (n *Node) update() {
	if n.stale {
		n.stale = false
		n.share()
	}
}
