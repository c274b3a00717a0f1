package sim

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// siteName is the driver name of the simulated cluster.
const siteName = "sim"

// site is the simulated cluster as a coordinator sees it. It follows the contract of drivers, whose conformance suite
// (test/support/drivertest) cannot run on site, because its workers are processes that connect over TLS and are killed by signals, in real
// time. The scenarios in testdata test the same points in virtual time.
type site struct {
	w      *World
	user   string // whose allocations these are
	report func(step.Input)
	dial   func(*Worker) // connects a worker to the coordinator
	allocs map[job.AllocID]*grant
	closed bool
}

// grant is an allocation and its workers.
type grant struct {
	site    *site
	id      job.AllocID
	alloc   *allocation
	workers []*Worker     // by rank; nil: the worker has not connected
	broken  []bool        // by rank: the node failed and no longer belongs to the allocation
	endless bool          // it is kept as long as a job needs it
	also    []*allocation // the same request in other partitions, until one has its nodes
}

// submitElsewhere puts the request also into the queues of the other partitions of a list that take it.
func (g *grant) submitElsewhere(names []string) {
	for _, name := range names {
		q, a := g.site.w.queueOf(name), g.alloc
		if q != a.queue && a.nodes <= len(q.all) && (q.MaxTime == 0 || a.limit <= q.MaxTime) {
			g.also = append(g.also, g.site.w.submit(g, q, a.user, a.nodes, a.limit))
		}
	}
}

// withdraw takes the request back from the queues where it has not begun.
func (g *grant) withdraw() {
	all := append(g.also, g.alloc)
	for _, a := range all {
		if a.state == running {
			g.alloc = a
		}
	}
	g.also = nil
	for _, a := range all {
		if a != g.alloc {
			g.site.w.release(a)
		}
	}
}

func newSite(w *World, report func(step.Input), dial func(*Worker)) *site {
	return &site{w: w, report: report, dial: dial, allocs: make(map[job.AllocID]*grant)}
}

// snapshot returns the nodes and the queue. It is valid until the virtual time advances.
func (s *site) snapshot() cluster.Snapshot {
	snap := s.w.snapshot(s.user)
	own := make(map[string]job.AllocID, len(s.allocs))
	for id, g := range s.allocs {
		own[strconv.Itoa(int(g.alloc.id))] = id
	}
	for i := range snap.Queue.Pending {
		snap.Queue.Pending[i].Alloc = own[snap.Queue.Pending[i].ID]
	}
	return snap
}

// request puts an allocation into the queue. It returns an error of class User if the allocation
// could never begin.
func (s *site) request(id job.AllocID, req job.AllocRequest) error {
	q, limit := s.w.queueOf(req.Batch.Partition), cmp.Or(req.Time, unlimited)
	refused := func(what string) error {
		return job.ConfigError(siteName, what, "request less")
	}
	switch {
	case req.Nodes < 1 || req.Nodes > len(q.all) || !req.PerNode.Fits(s.w.machine.size):
		return refused("the cluster does not have so many nodes, or none of this size")
	case q.MaxTime > 0 && limit > q.MaxTime:
		return refused("the wall time exceeds the limit of the queue")
	}
	g := &grant{site: s, id: id, workers: make([]*Worker, req.Nodes), broken: make([]bool, req.Nodes), endless: !req.Elastic}
	s.allocs[id] = g
	g.alloc = s.w.submit(g, q, s.user, req.Nodes, limit)
	if s.w.cfg.Adaptor.Among == AmongAll {
		g.submitElsewhere(strings.Split(req.Batch.Partitions(), ","))
	}
	return nil
}

// release ends an allocation.
func (s *site) release(id job.AllocID) {
	if g := s.allocs[id]; g != nil {
		g.end()
	}
}

// close stops all reports to the coordinator.
func (s *site) close() { s.closed = true }

func (s *site) send(in step.Input) {
	if !s.closed {
		s.report(in)
	}
}

// expectStarts fills in the expected starts of waiting allocations from a snapshot, as a real driver reports them.
func expectStarts(live []job.Live, snap *cluster.Snapshot) {
	for _, q := range snap.Queue.Pending {
		if i := slices.IndexFunc(live, func(l job.Live) bool { return l.ID == q.Alloc && l.Began == 0 }); i >= 0 {
			live[i].Start = q.Start
		}
	}
}

// began reports that the allocation has begun, and schedules the start of its workers.
func (g *grant) began() {
	w := g.site.w
	g.withdraw()
	if g.endless {
		g.site.send(step.AllocUp{Alloc: g.id})
	} else {
		w.agenda.schedule(g.alloc.ends(), limitRank, g.expire)
		g.site.send(step.AllocUp{Alloc: g.id, Ends: g.alloc.ends()})
	}
	if w.cfg.Cluster.StartUp > 0 {
		w.agenda.schedule(w.now.Add(w.cfg.Cluster.StartUp), endRank, g.fire)
		return
	}
	g.fire()
}

// fire starts the workers.
func (g *grant) fire() {
	for rank, node := range g.alloc.on {
		if g.alloc.state != running {
			return
		}
		if g.workers[rank] == nil && !g.broken[rank] {
			g.workers[rank] = newWorker(g, rank, node)
			g.site.dial(g.workers[rank])
		}
	}
}

// nodeFailed ends the worker of a node that failed. The allocation continues on its other nodes, as
// with srun --no-kill, and never uses the failed node again. It ends when all its nodes have failed.
func (g *grant) nodeFailed(rank int) {
	if g.broken[rank] {
		return // the node was repaired in the meantime
	}
	g.broken[rank] = true
	if !slices.Contains(g.broken, false) {
		g.end()
		g.site.send(step.AllocDown{Alloc: g.id, Reason: "all its nodes failed"})
		return
	}
	if k := g.workers[rank]; k != nil {
		k.die()
		g.site.send(step.NodeDown{Node: k.ID, Gone: true, Reason: "its node failed"})
	}
}

// end ends the allocation and its workers.
func (g *grant) end() {
	delete(g.site.allocs, g.id)
	g.withdraw()
	g.site.w.release(g.alloc)
	for _, k := range g.workers {
		if k != nil {
			k.die()
		}
	}
}

// expire is the end of the allocation's wall time.
func (g *grant) expire() {
	if g.alloc.state != running {
		return
	}
	g.end()
	g.site.send(step.AllocDown{Alloc: g.id, Reason: "its wall time has ended"})
}
