package sched

import "berth/internal/core/job"

// prism are the rules of PRISM, from the paper phase-level-scheduling: Algorithm 1 with U = U_fairness + α·U_perf.
// The copy of the paper does not define U_perf. As it says that a start adds parallelism, U_perf of a first
// phase is the relative gain of one more running task of the job. Later phases come before all first
// phases, the longest waiting first.
type prism struct{ CoreRules }

// prismReach is k, the number of jobs with the highest deficit that are considered.
const prismReach = 10

func (prism) Demand(_ *Job, t *Tasks) Demand { return t.Measured() }

// Through makes an attempt ask before each phase.
func (prism) Through(_ *Job, _ *Tasks, phase job.Phase) job.Phase { return phase }

func (prism) Paused(holds job.Vector) job.Vector {
	return job.Vector{Memory: holds.Memory, GPU: holds.GPU}
}

func (prism) Rank(p *Pool, j *Job) job.Time { return FairRank(p, j) }

func (prism) Fits(n *Node, c *Candidate) bool { return whole.admits(n, c.Demand) }

func (prism) Onward(n *Node, _ job.Time) *Candidate { return longestWaiting(n, whole) }

func (prism) Reach(*Pool) int { return prismReach }

func (r prism) Worth(p *Pool, n *Node, c *Candidate, _ int) float64 {
	return fairGain(p, c.Job, c.Demand) + r.alpha/float64(1+c.Job.Live)
}
