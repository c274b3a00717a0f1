package report

import (
	"cmp"
	"maps"
	"slices"

	"berth/internal/core/job"
)

// The sources of an Energy.
const (
	EnergyMeasured  = "measured"  // counters of the processors (RAPL), for phases that are over
	EnergyEstimated = "estimated" // the power of nodes as the user described it, and the use of their cores
)

// Energy is the electric energy that a job consumed.
type Energy struct {
	Joules float64 `json:"joules"`
	Idle   float64 `json:"idle_joules"` // part of it that idle nodes would have used; 0 if the energy is measured
	Source string  `json:"source"`      // `measured` (counters of the processors) or `estimated` (by `--node-power`)
}

// addWork adds core-seconds to the work of all jobs on a node. A job's fraction of them is its share of the node's idle energy.
func (n *Nodes) addWork(id job.NodeID, seconds float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have := n.nodes[id]; have != nil {
		have.work += seconds
	}
}

// spend adds the consumption of an attempt's phases to that of the job on a node.
func (j *Job) spend(id job.NodeID, stats []job.PhaseStat) {
	u, work := j.nodeUse(id), 0.0
	for _, s := range stats {
		work += s.CPU.Seconds()
		u.joules += s.Joules
	}
	if work > 0 {
		u.work += work
		if !j.info.Reads {
			j.info.Nodes.addWork(id, work)
		}
	}
}

// energy returns the energy that the job consumed until now, or nil if nothing is known about it.
//
// A node's idle power counts from the job's first attempt there until the job, or the node, is gone.
// Jobs that do their work there in that time share it by their core-seconds.
func (j *Job) energy(now job.Time) *Energy {
	if j.state.Final() {
		now = j.ended
	}
	ids := slices.Sorted(maps.Keys(j.use))
	var e Energy
	for _, id := range ids {
		e.Joules += j.use[id].joules
	}
	if e.Joules > 0 {
		return &Energy{Joules: round(e.Joules), Source: EnergyMeasured}
	}
	if len(j.info.Power) == 0 || len(ids) == 0 {
		return nil
	}
	beside := map[string]int{} // workers by host, as several may share one machine
	for _, id := range ids {
		beside[j.host(id)]++
	}
	for _, id := range ids {
		idle, busy := j.estimate(id, now, max(1, beside[j.host(id)]))
		e.Idle, e.Joules = e.Idle+idle, e.Joules+idle+busy
	}
	return &Energy{Joules: round(e.Joules), Idle: round(e.Idle), Source: EnergyEstimated}
}

// estimate returns the idle energy and the further energy that the job consumed on one of its nodes until now.
// workers is the number of the job's workers that share the machine.
func (j *Job) estimate(id job.NodeID, now job.Time, workers int) (idle, busy float64) {
	u, n := j.use[id], j.info.Nodes.state(id)
	if n.Host == "" {
		workers = 1
	}
	if n.gone != 0 {
		now = min(now, n.gone)
	}
	power := job.PowerOf(j.info.Power, n.Host, j.work.Alloc.Batch.Constraint)
	idle, busy = power.Joules(max(0, now.Sub(u.first).Seconds()), u.work, cmp.Or(n.CPUs, j.work.Alloc.PerNode.CPUs)*workers)
	if all := n.work - u.before; all > u.work {
		idle *= u.work / all
	}
	return idle / float64(workers), busy
}
