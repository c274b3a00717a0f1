package sched

import "berth/internal/job"

// packing are the rules of Tetris (Grandl et al., SIGCOMM 2014): a task holds the most that any of its phases takes, of
// all resources, from its beginning to its end, and starts where what it takes and what is free align best, by
// their scalar product. Among jobs it is fair by dominant resource (Ghodsi et al., NSDI 2011): the half of the
// jobs that are furthest below their share are weighed.
type packing struct{ cores }

func (packing) demand(j *Job, kind job.TaskKind) Demand {
	d := j.measured(kind)
	most := d.Most(job.PhaseNone, job.PhaseReduce)
	for _, p := range kind.Phases() {
		d[p] = most
	}
	return d
}

func (packing) rank(p *Pool, j *Job) job.Time { return fairRank(p, j) }

func (packing) shuffles(n *Node) int { return max(1, n.cores()/2) }

func (packing) fits(n *Node, c *Candidate) bool {
	return holdsCores(n, c) && whole.admits(n, job.Vector{Disk: c.Takes.Disk, Net: c.Takes.Net})
}

func (packing) onward(n *Node, _ job.Time) *Candidate { return n.waiting.line[0] }

func (packing) reach(p *Pool) int { return max(1, len(p.Classes)/2) }

func (packing) worth(_ *Pool, n *Node, c *Candidate, _ int) float64 {
	return tiny + alignment(n, c.Takes)
}
