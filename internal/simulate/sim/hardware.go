package sim

import (
	"math"

	"berth/internal/core/job"
	"berth/internal/simulate/contention"
	"berth/internal/simulate/workload"
)

// Hardware describes a node on which phases contend for cores, disk and network.
type Hardware struct {
	Capacity   job.Resources // its rates of disk and network are in bytes/s
	Speed      float64       // of its cores
	Loss       float64       // by which each further phase at the disk slows it down, see contention.NewNode
	Idle, Full float64       // watts with all cores idle, and with all cores busy
}

// host is a node on which phases contend.
type host struct {
	w        *world
	hardware *Hardware
	node     *contention.Node
	changed  bool     // flows were added or removed at the present instant
	armed    job.Time // the instant of the pending check; 0: none is scheduled
	ended    []*contention.Flow
}

// newHosts returns the nodes of a cluster with the given hardware.
func newHosts(w *world, hardware []Hardware) []*host {
	hosts := make([]*host, len(hardware))
	for i := range hardware {
		h := &hardware[i]
		c := h.Capacity.Vector()
		hosts[i] = &host{w: w, hardware: h, node: contention.NewNode(contention.Rates{
			contention.CPU: float64(c.CPU) / job.MilliCore * h.Speed, contention.Disk: float64(c.Disk),
			contention.In: float64(c.Net), contention.Out: float64(c.Net)}, h.Loss)}
	}
	return hosts
}

// seconds returns the present time in the unit of contention.Node.
func (h *host) seconds() float64 { return h.w.now.Sub(epoch).Seconds() }

// flowOwner is notified when one of its flows has ended.
type flowOwner interface{ done() }

// add starts a flow on the node.
func (h *host) add(f *contention.Flow) {
	h.node.Add(h.seconds(), f)
	h.change()
}

func (h *host) remove(f *contention.Flow) {
	h.node.Remove(h.seconds(), f)
	h.change()
}

// change marks the node: its speeds are computed anew after all events of this instant.
func (h *host) change() {
	if !h.changed {
		h.changed = true
		h.w.changedHosts = append(h.w.changedHosts, h)
	}
}

// arm schedules the end of the next flow on each node that changed.
func (w *world) arm() {
	for _, h := range w.changedHosts {
		h.changed = false
		h.arm()
	}
	w.changedHosts = w.changedHosts[:0]
}

// arm schedules the node's next check when the next flow ends, rounded up to a millisecond. A check
// that is already scheduled earlier suffices.
func (h *host) arm() {
	next := h.node.Next()
	if math.IsInf(next, 1) {
		return
	}
	at := max(epoch+job.Time(math.Ceil(next*1000-1e-6))*milli, h.w.now)
	if h.armed == 0 || at < h.armed {
		h.armed = at
		h.w.agenda.schedule(at, endRank, hostCheck{h, at})
	}
}

// milli is a millisecond.
const milli = job.Time(1_000_000)

// hostCheck is the event at which a node is checked for flows that have ended.
type hostCheck struct {
	h  *host
	at job.Time
}

// fire ends the flows that are complete.
func (l hostCheck) fire() {
	h := l.h
	if h.armed != l.at {
		return
	}
	h.armed = 0
	h.ended = h.node.Ended(h.seconds(), h.ended[:0])
	for _, f := range h.ended {
		f.Owner.(flowOwner).done()
	}
	h.change()
}

// limit returns the highest speed of a phase on the node, as a fraction of full speed.
func (h *host) limit(a workload.Amounts) float64 {
	if s := a.Seconds(h.hardware.Speed, float64(h.hardware.Capacity.Disk), float64(h.hardware.Capacity.Net)); s > 0 {
		return a.Full() / s
	}
	return 1
}

// Use is the amount of each resource that was used: CPU in core-seconds of cores of speed 1, Memory
// in byte-seconds, Disk in bytes, and Net in bytes that came over the network.
type Use struct{ CPU, Memory, Disk, Net float64 }

// usage adds up what was used of all nodes, and their energy in joules. A node uses P_idle + (P_max
// − P_idle)·(utilization of the cores) from the beginning to the end (models.md, "Energy").
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
