package sched

import "berth/internal/core/job"

// packing are the rules of Tetris (Grandl et al., SIGCOMM 2014). A task holds its demand of all resources from start to
// end, and starts where its demand and the free resources align best, by their scalar product. Its demand is the mean over its phases for
// cores and rates, and the maximum for memory: with the maximum of everything, as in Tetris, nodes stay half empty where phases differ.
// Jobs share by dominant resource (Ghodsi et al., NSDI 2011): the candidates of the half of the jobs that are furthest below their
// share compete.
type packing struct{ cores }

func (packing) demand(j *Job, kind job.TaskKind) Demand {
	d := j.measured(kind)
	size := j.mean(&d, kind)
	size.Memory = d.Most(job.PhaseNone, job.PhaseReduce).Memory
	for _, p := range kind.Phases() {
		d[p] = size
	}
	return d
}

// mean returns the mean demand of a task over its phases, weighted by their duration, or the maximum if no duration is
// known.
func (j *Job) mean(d *Demand, kind job.TaskKind) job.Vector {
	var cpu, disk, net, sum float64
	for _, p := range kind.Phases() {
		known, _ := j.Known.Phase(p)
		s := known.Seconds
		cpu, disk, net, sum = cpu+float64(s*float64(d[p].CPU)), disk+float64(s*float64(d[p].Disk)), net+float64(s*float64(d[p].Net)), sum+s
	}
	if sum == 0 {
		return d.Most(job.PhaseNone, job.PhaseReduce)
	}
	return job.Vector{CPU: coarseCPU(int64(cpu / sum)), Disk: coarse(int64(disk / sum)), Net: coarse(int64(net / sum))}
}

func (packing) rank(p *Pool, j *Job) job.Time { return fairRank(p, j) }

// paused makes reduces that wait for maps hold only their memory, so that their cores are not idle. Tetris itself
// would keep their cores.
func (packing) paused(holds job.Vector) job.Vector { return job.Vector{Memory: holds.Memory} }

func (packing) fits(n *Node, c *Candidate) bool {
	return holdsCores(n, c) && whole.admits(n, job.Vector{Disk: c.Demand.Disk, Net: c.Demand.Net})
}

func (packing) onward(n *Node, _ job.Time) *Candidate { return n.atOnce() }

func (packing) reach(p *Pool) int { return max(1, len(p.Classes)/2) }

func (packing) worth(_ *Pool, n *Node, c *Candidate, _ int) float64 {
	return tiny + alignment(n, c.Demand)
}
