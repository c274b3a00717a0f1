package sim

import (
	"math"

	"berth/internal/job"
	"berth/internal/sim/contention"
	"berth/internal/workload"
)

// Hardware is a kind of node on which phases contend for what there is.
type Hardware struct {
	Capacity   job.Resources // with rates of disk and network
	Speed      float64       // of its cores
	Idle, Full float64       // watts when no core computes, and when all do
}

// host is a node on which phases contend.
type host struct {
	w        *world
	hardware *Hardware
	node     *contention.Node
	changed  bool     // legs have come or gone in the instant under way
	armed    job.Time // for which an entry is on the agenda that is not over
	ended    []*contention.Flow
}

// newHosts returns the nodes of a cluster whose hardware is told; none for another.
func newHosts(w *world, hardware []Hardware) []*host {
	hosts := make([]*host, len(hardware))
	for i := range hardware {
		h := &hardware[i]
		c := h.Capacity.Vector()
		hosts[i] = &host{w: w, hardware: h, node: contention.NewNode(contention.Rates{
			contention.CPU: float64(c.CPU) / job.MilliCore * h.Speed, contention.Disk: float64(c.Disk),
			contention.In: float64(c.Net), contention.Out: float64(c.Net)})}
	}
	return hosts
}

// seconds returns the present as nodes have it.
func (h *host) seconds() float64 { return h.w.now.Sub(epoch).Seconds() }

// mover is told that a flow of its own is over.
type mover interface{ done() }

// add and remove have a flow run on the node, and no more.
func (h *host) add(f *contention.Flow) {
	h.node.Add(h.seconds(), f)
	h.change()
}

func (h *host) remove(f *contention.Flow) {
	h.node.Remove(h.seconds(), f)
	h.change()
}

// change notes that the speeds on the node are to be found anew. That is done when all has happened that happens
// at an instant.
func (h *host) change() {
	if !h.changed {
		h.changed = true
		h.w.changedHosts = append(h.w.changedHosts, h)
	}
}

// arm notes for all nodes on which something has changed when their next leg is done.
func (w *world) arm() {
	for _, h := range w.changedHosts {
		h.changed = false
		h.arm()
	}
	w.changedHosts = w.changedHosts[:0]
}

// arm notes when the next leg is done, rounded up to a millisecond, unless the node is looked at before anyway.
func (h *host) arm() {
	next := h.node.Next()
	if math.IsInf(next, 1) {
		return
	}
	at := max(epoch+job.Time(math.Ceil(next*1000-1e-6))*milli, h.w.now)
	if h.armed == 0 || at < h.armed {
		h.armed = at
		h.w.agenda.note(at, endRank, look{h, at})
	}
}

// milli is a millisecond.
const milli = job.Time(1_000_000)

// look is when a node is to be looked at.
type look struct {
	h  *host
	at job.Time
}

// happen ends the legs that are done by now.
func (l look) happen() {
	h := l.h
	if h.armed != l.at {
		return
	}
	h.armed = 0
	h.ended = h.node.Ended(h.seconds(), h.ended[:0])
	for _, f := range h.ended {
		f.Owner.(mover).done()
	}
	h.change()
}

// limit returns the fastest that a phase of such amounts is on the node, as a share of full speed.
func (h *host) limit(a workload.Amounts) float64 {
	if s := a.Seconds(h.hardware.Speed, float64(h.hardware.Capacity.Disk), float64(h.hardware.Capacity.Net)); s > 0 {
		return a.Full() / s
	}
	return 1
}

// Use is what was used of each resource: core-seconds of cores of speed 1, byte-seconds, bytes, and bytes that
// came over the network.
type Use struct{ CPU, Memory, Disk, Net float64 }

// usage adds up what was used of all nodes, and their energy in joules: P_idle + (P_max − P_idle)·utilisation of the cores
// each, from the beginning to the end (models.md, section 1, Energy).
func (w *world) usage() {
	span := w.result.End.Sub(w.result.Begin).Seconds()
	for _, h := range w.hosts {
		used, cores := h.node.Used(), float64(h.hardware.Capacity.CPUs)*h.hardware.Speed
		w.result.Used.CPU += used[contention.CPU]
		w.result.Used.Disk += used[contention.Disk]
		w.result.Used.Net += used[contention.In]
		w.result.Energy += float64(h.hardware.Idle*span) + float64((h.hardware.Full-h.hardware.Idle)*used[contention.CPU]/cores)
	}
}
