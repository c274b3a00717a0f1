package sched

import "berth/internal/job"

// packing are the rules of Tetris (Grandl et al., SIGCOMM 2014): a task holds what it takes of all resources from its
// beginning to its end, and starts where what it takes and what is free align best, by
// their scalar product. Of cores and rates that is the mean over its phases, and of memory the most: with the most of everything, as
// Tetris has it, nodes stay half empty where phases differ. Among jobs it is fair by dominant resource (Ghodsi et al., NSDI 2011): the half of the
// jobs that are furthest below their share are weighed.
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

// mean returns what a task takes on average over its phases, by how long they last; of phases of which nobody knows
// that, the most.
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

// paused lets reduces that wait for maps hold their memory only, so that their cores do not lie idle: kinder than a task of
// one size.
func (packing) paused(holds job.Vector) job.Vector { return job.Vector{Memory: holds.Memory} }

func (packing) fits(n *Node, c *Candidate) bool {
	return holdsCores(n, c) && whole.admits(n, job.Vector{Disk: c.Takes.Disk, Net: c.Takes.Net})
}

func (packing) onward(n *Node, _ job.Time) *Candidate { return n.atOnce() }

func (packing) reach(p *Pool) int { return max(1, len(p.Classes)/2) }

func (packing) worth(_ *Pool, n *Node, c *Candidate, _ int) float64 {
	return tiny + alignment(n, c.Takes)
}
