package sched

import "berth/internal/core/job"

// prism are the rules of PRISM, from the paper phase-level-scheduling: Algorithm 1 with U = U_fairness + α·U_perf.
// The copy of the paper does not define U_perf. As it says that a start adds parallelism, U_perf of a
// phase is the relative gain of one more running task of the job. Later phases come before all first
// phases; among those that fit, U decides, and nothing is reserved for one that has waited long.
type prism struct{ CoreRules }

// prismReach is k, the number of jobs with the highest deficit that are considered.
const prismReach = 10

func (prism) Demand(t *Tasks) Demand { return t.Measured() }

// Through makes an attempt ask before each phase.
func (prism) Through(_ *Tasks, phase job.Phase) job.Phase { return phase }

func (prism) Paused(holds job.Vector) job.Vector {
	return job.Vector{Memory: holds.Memory, GPU: holds.GPU}
}

func (prism) Rank(p *Pool, j *Job) job.Time { return FairRank(p, j) }

func (prism) Fits(n *Node, c *Candidate) bool { return whole.admits(n, c.Demand) }

func (r prism) Onward(p *Pool, n *Node) (best *Candidate) {
	most := 0.0
	for _, c := range n.bySince() {
		more := c.more()
		if u := r.utility(p, c, more); u > most && more.Memory <= max(0, n.Free().Memory) && whole.admits(n, more) {
			best, most = c, u
		}
	}
	return best
}

func (prism) Reach(*Pool) int { return prismReach }

func (r prism) Worth(p *Pool, _ *Node, c *Candidate, _ int) float64 { return r.utility(p, c, c.Demand) }

// utility is U of a phase for which its job holds more than before.
func (r prism) utility(p *Pool, c *Candidate, more job.Vector) float64 {
	return tiny + FairGain(p, c.Job, more) + r.alpha/float64(1+c.Job.Live)
}
