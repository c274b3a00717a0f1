package report

import (
	"cmp"
	"maps"
	"slices"

	"berth/internal/job"
)

// What an Energy stands on.
const (
	EnergyMeasured  = "measured"  // counters of the processors (RAPL), as far as phases are over
	EnergyEstimated = "estimated" // the power of a node as it was told, and the use of its cores
)

// Energy is what a job took of electric energy.
type Energy struct {
	Joules float64 `json:"joules"`
	Idle   float64 `json:"idle_joules"` // of it what its nodes would have taken with nothing to do; 0 where it is measured
	Source string  `json:"source"`      // measured, estimated
}

// addWork adds up what all jobs did on a node, in core-seconds, as it is their share of the node's idle power.
func (n *Nodes) addWork(id job.NodeID, seconds float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if have := n.nodes[id]; have != nil {
		have.work += seconds
	}
}

// worked returns what all jobs did on a node so far, in core-seconds.
func (n *Nodes) worked(id job.NodeID) float64 { return n.state(id).work }

// spend adds to what the job took of a node what phases of one of its attempts took.
func (j *Job) spend(id job.NodeID, stats []job.PhaseStat) {
	u, work := j.nodeUse(id), 0.0
	for _, s := range stats {
		work += s.CPU.Seconds()
		u.joules += s.Joules
	}
	if work > 0 {
		u.work += work
		j.info.Nodes.addWork(id, work)
	}
}

// energy returns what the job took until now; nil where nothing is known of it.
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
		beside[j.info.Nodes.host(id)]++
	}
	for _, id := range ids {
		idle, busy := j.estimate(id, now, max(1, beside[j.info.Nodes.host(id)]))
		e.Idle, e.Joules = e.Idle+idle, e.Joules+idle+busy
	}
	return &Energy{Joules: round(e.Joules), Idle: round(e.Idle), Source: EnergyEstimated}
}

// estimate returns what the job took of one of its nodes until now, idle power and what goes beyond it. So many
// workers of the job share the machine.
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
