package schedulers

import (
	"berth/internal/core/job"
	"berth/internal/core/sched"
)

// packing are the rules of Tetris (Grandl et al., SIGCOMM 2014). A task holds its demand of all resources from start to
// end, and starts where its demand and the free resources align best, by their scalar product. Its demand is the mean over its phases for
// cores and rates, and the maximum for memory: with the maximum of everything, as in Tetris, nodes stay half empty where phases differ.
// Jobs share by dominant resource (Ghodsi et al., NSDI 2011): the candidates of the half of the jobs that are furthest below their
// share compete.
type packing struct{ sched.CoreRules }

func (packing) Demand(t *sched.Tasks) sched.Demand {
	d := t.Measured()
	size, most := mean(t.Begin.Job, &d, t.Kind()), d.Most(job.PhaseNone, job.NumPhases-1)
	size.Memory, size.GPU = most.Memory, most.GPU
	for _, p := range t.Kind().Phases() {
		d[p] = size
	}
	return d
}

// mean returns the mean demand of a task over its phases, weighted by their duration, or the maximum if no duration is
// known.
func mean(j *sched.Job, d *sched.Demand, kind job.TaskKind) job.Vector {
	var cpu, disk, net, sum float64
	for _, p := range kind.Phases() {
		known, _ := j.Known.Phase(p)
		s := known.Seconds
		cpu, disk, net, sum = cpu+float64(s*float64(d[p].CPU)), disk+float64(s*float64(d[p].Disk)), net+float64(s*float64(d[p].Net)), sum+s
	}
	if sum == 0 {
		return d.Most(job.PhaseNone, job.NumPhases-1)
	}
	return sched.Coarse(job.Vector{CPU: int64(cpu / sum), Disk: int64(disk / sum), Net: int64(net / sum)})
}

func (packing) Rank(p *sched.Pool, j *sched.Job) job.Time { return sched.FairRank(p, j) }

// Paused makes reduces that wait for maps hold only their memory, so that their cores are not idle. Tetris itself
// would keep their cores.
func (packing) Paused(holds job.Vector) job.Vector {
	return job.Vector{Memory: holds.Memory, GPU: holds.GPU}
}

func (packing) Fits(n *sched.Node, c *sched.Candidate) bool {
	free, has := n.Free(), n.Capacity
	return holdsCores(n, c) && atFullSpeed(c.Demand.Disk, free.Disk, has.Disk) && atFullSpeed(c.Demand.Net, free.Net, has.Net)
}

// atFullSpeed reports whether a node has so much of a rate left that a phase would run at full speed; has 0: unknown. A demand above the
// capacity counts as the capacity.
func atFullSpeed(takes, free, has int64) bool {
	return takes <= 0 || has <= 0 || free >= has || min(takes, has) <= free
}

func (packing) Onward(_ *sched.Pool, n *sched.Node) *sched.Candidate { return n.AtOnce() }

func (packing) Reach(p *sched.Pool) int { return max(1, len(p.Groups)/2) }

func (packing) Worth(_ *sched.Pool, n *sched.Node, c *sched.Candidate, _ int) float64 {
	return 1e-9 + sched.Alignment(n, c.Demand)
}
