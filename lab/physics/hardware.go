package physics

import (
	"fmt"
	"math"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/simulate/sim"
	"berth/lab/contention"
	"berth/lab/loads"
)

// Hardware describes a node on which phases contend for cores, disk and network.
type Hardware struct {
	Capacity   job.Resources // its rates of disk and network are in bytes/s
	Speed      float64       // of its cores
	Loss       float64       // by which each further phase at the disk slows it down, see contention.NewNode
	Idle, Full float64       // watts with all cores idle, and with all cores busy
}

// Use is the amount of each resource that was used: CPU in core-seconds of cores of speed 1, Memory
// in byte-seconds, Disk in bytes, and Net in bytes that came over the network.
type Use struct{ CPU, Memory, Disk, Net float64 }

// JobUse is what a job used, without memory.
type JobUse struct {
	Use
	Maps, Local int // its map attempts, and those of them that had their split on their node
}

// Phases is the physics of jobs whose phases contend for the nodes (loads.Phased). It serves one simulation, after which it has
// what was used.
type Phases struct {
	Hardware []Hardware // of each node
	Jobs     []loads.Job
	// Fixed makes merges and sorts use the buffers of Hadoop's tasks (loads.Phased) instead of the memory that berth's workers
	// give them.
	Fixed bool

	Used   Use     // of all nodes
	Energy float64 // joules
	Of     []JobUse

	w       *sim.World
	hosts   []*host
	changed []*host // hosts that changed at the present instant
	memory  int64   // of the smallest node
}

// Config adds the physics, its jobs and its nodes to the configuration of a simulation.
func (p *Phases) Config(cfg sim.Config) sim.Config {
	cfg.Physics, cfg.Elastic = p, loads.Elastic(p.Jobs)
	c := &cfg.Cluster
	c.Nodes, c.Cores, c.Memory = len(p.Hardware), math.MaxInt, math.MaxInt64
	for _, h := range p.Hardware {
		c.Cores, c.Memory = min(c.Cores, h.Capacity.CPUs), min(c.Memory, h.Capacity.Mem)
		c.Kinds = append(c.Kinds, sim.Kind{Capacity: h.Capacity, Type: fmt.Sprintf("speed %g", h.Speed)})
	}
	return cfg
}

// Begin implements sim.Physics.
func (p *Phases) Begin(w *sim.World) {
	p.w, p.Of, p.memory = w, make([]JobUse, len(p.Jobs)), math.MaxInt64
	for i := range p.Hardware {
		h := &p.Hardware[i]
		p.memory = min(p.memory, h.Capacity.Mem)
		c := h.Capacity.Vector()
		p.hosts = append(p.hosts, &host{p: p, hardware: h, node: contention.NewNode(contention.Rates{
			contention.CPU: float64(c.CPU) / job.Milli * h.Speed, contention.Disk: float64(c.Disk),
			contention.In: float64(c.Net), contention.Out: float64(c.Net)}, h.Loss)})
	}
}

// Describe implements sim.Physics: the engine knows the demands of phases and where the data are.
func (p *Phases) Describe(index int, work *job.Work) {
	f := p.Jobs[index].Phased
	work.Need.Mem, work.ReduceNeed.Mem = f.Peaks()
	work.Demands, work.DataHosts = f.Demands, p.homes(f.Homes)
}

// homes groups tasks by the nodes that have their data, given the nodes of each task.
func (p *Phases) homes(of [][]int) []job.DataHost {
	all := make([]job.DataHost, len(p.Hardware))
	for i := range all {
		all[i].Host = sim.NodeName(i)
	}
	for task, nodes := range of {
		for _, n := range nodes {
			all[n].Tasks = append(all[n].Tasks, int32(task))
		}
	}
	return slices.DeleteFunc(all, func(h job.DataHost) bool { return h.Tasks == nil })
}

// Observe implements sim.Physics.
func (p *Phases) Observe(event.Record) {}

// EndInstant implements sim.Physics. It schedules the end of the next flow on each node that changed.
func (p *Phases) EndInstant() {
	for _, h := range p.changed {
		h.changed = false
		h.arm()
	}
	p.changed = p.changed[:0]
}

// Use adds up what was used of all nodes, and their energy in joules. A node uses P_idle + (P_max
// − P_idle)·(utilization of the cores) from the beginning to the end (models.md, "Energy").
func (p *Phases) Use(r *sim.Result) {
	span := r.End.Sub(r.Begin).Seconds()
	for _, h := range p.hosts {
		used, cores := h.node.Used(), float64(h.hardware.Capacity.CPUs)*h.hardware.Speed
		p.Used.CPU += used[contention.CPU]
		p.Used.Disk += used[contention.Disk]
		p.Used.Net += used[contention.In]
		p.Energy += float64(h.hardware.Idle*span) + float64((h.hardware.Full-h.hardware.Idle)*used[contention.CPU]/cores)
	}
}

// host is a node on which phases contend.
type host struct {
	p        *Phases
	hardware *Hardware
	node     *contention.Node
	changed  bool     // flows were added or removed at the present instant
	armed    job.Time // the instant of the pending check; 0: none is scheduled
	ended    []*contention.Flow
}

// seconds returns the present time in the unit of contention.Node.
func (h *host) seconds() float64 { return h.p.w.Now().Sub(sim.Epoch).Seconds() }

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
		h.p.changed = append(h.p.changed, h)
	}
}

// milli is a millisecond.
const milli = job.Time(1_000_000)

// arm schedules the node's next check when the next flow ends, rounded up to a millisecond. A check
// that is already scheduled earlier suffices.
func (h *host) arm() {
	next := h.node.Next()
	if math.IsInf(next, 1) {
		return
	}
	at := max(sim.Epoch+job.Time(math.Ceil(next*1000-1e-6))*milli, h.p.w.Now())
	if h.armed == 0 || at < h.armed {
		h.armed = at
		h.p.w.At(at, func() { h.check(at) })
	}
}

// check ends the flows that are complete.
func (h *host) check(at job.Time) {
	if h.armed != at {
		return
	}
	h.armed = 0
	h.ended = h.node.Ended(h.seconds(), h.ended[:0])
	for _, f := range h.ended {
		f.Owner.(*leg).done()
	}
	h.change()
}

// limit returns the highest speed of a phase on the node, as a fraction of full speed.
func (h *host) limit(a loads.Amounts) float64 {
	if s := a.Seconds(h.hardware.Speed, float64(h.hardware.Capacity.Disk), float64(h.hardware.Capacity.Net)); s > 0 {
		return a.Full() / s
	}
	return 1
}
