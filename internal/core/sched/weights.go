package sched

import "time"

// In the order FIFO, jobs of equal weight start in the order of submission, and the jobs of each weight share the nodes
// of the pool with those of other weights in proportion to the weights (Pool.Weighed). The weight that has used least is
// next. What it has used are the node-seconds of its attempts, by dominant resource, divided by the weight. An
// attempt that runs counts with its expected time, and once it has ended with the time that it took. So the proportion
// holds also on fewer cores than the weights add up to. A weight whose jobs had nothing to start does not get that time
// back: once it has something again, all weights begin anew.

// charge is what an attempt that runs counts for the weight of its job.
type charge struct {
	seconds float64 // expected node-seconds, divided by the weight
	round   int     // Pool.round at its start
}

// expend counts an attempt that starts.
func (p *Pool) expend(r *Running) {
	if !p.Weighed {
		return
	}
	r.charge = charge{seconds: p.cost(r, r.Of.Left.mean()), round: p.round}
	p.use(r.Job, r.charge.seconds)
}

// correct counts what an attempt that has ended really used. What ran when all weights began anew counts no more.
func (p *Pool) correct(r *Running, took time.Duration) {
	if !p.Weighed {
		return
	}
	p.use(r.Job, -r.charge.seconds)
	if r.charge.round == p.round {
		p.use(r.Job, p.cost(r, took.Seconds()))
	}
}

// cost returns the node-seconds of an attempt that runs for so many seconds, divided by the weight of its job.
func (p *Pool) cost(r *Running, seconds float64) float64 {
	return float64(dominant(r.Holds, p.Unit)*seconds) / r.Job.Weight
}

func (p *Pool) use(j *Job, seconds float64) {
	if p.used == nil {
		p.used = make(map[float64]float64)
	}
	p.used[j.Weight] += seconds
	p.turned = p.turned || p.shared()
}

// shared reports whether jobs of several weights share the nodes: then each start may change who is next.
func (p *Pool) shared() bool { return len(p.used) > 1 }

// renewWeights has all weights begin anew: only what runs counts. It is called when a job is the first of its weight that has
// something to start.
func (p *Pool) renewWeights(weight float64) {
	if _, ok := p.used[weight]; !p.Weighed || ok && len(p.used) == 1 {
		return
	}
	p.round++
	p.used = map[float64]float64{weight: 0}
	for _, n := range p.Nodes {
		for _, r := range n.Running {
			p.used[r.Job.Weight] += r.charge.seconds
		}
	}
}

// Reweigh changes the weight of a job that has no candidates in the pool. All weights begin anew.
func (p *Pool) Reweigh(j *Job, weight float64) {
	p.Weights += weight - j.Weight
	if j.Weight = weight; p.Weighed {
		p.used = nil
		p.renewWeights(weight)
	}
}

// Ahead reports whether the jobs of j's weight have used less than those of k's, for their weights. Those with a deadline, and those of
// different priorities, do not share.
func (p *Pool) Ahead(j, k *Job) bool {
	return p.Weighed && j.Level == k.Level && j.Due == 0 && k.Due == 0 && j.Weight != k.Weight && p.used[j.Weight] < p.used[k.Weight]
}

// before reports whether c comes before d: urgent candidates first, then in the line of their jobs.
func (p *Pool) before(c, d *Candidate) bool {
	if c.overtakes() != d.overtakes() {
		return c.overtakes()
	}
	return p.inLine(c, d)
}

// inLine reports whether c comes before d by what their weights have used, and then by Candidate.before.
func (p *Pool) inLine(c, d *Candidate) bool {
	return p.Ahead(c.Job, d.Job) || !p.Ahead(d.Job, c.Job) && c.before(d)
}
