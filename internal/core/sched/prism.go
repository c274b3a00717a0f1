package sched

import "berth/internal/core/job"

// prism are the rules of PRISM, from the paper phase-level-scheduling: Algorithm 1 with U = U_fairness + α·U_perf
// and α = 1. The copy of the paper does not define U_perf. As it says that a start adds parallelism, U_perf of a first
// phase is the relative gain of one more running task of the job. Later phases come before all first
// phases, the longest waiting first.
type prism struct{ cores }

// prismReach is k, the number of jobs with the highest deficit that are considered.
const prismReach = 10

func (prism) demand(j *Job, kind job.TaskKind) Demand { return j.measured(kind) }

// through makes an attempt ask before each phase.
func (prism) through(_ *Job, _ job.TaskKind, phase job.Phase) job.Phase { return phase }

func (prism) paused(holds job.Vector) job.Vector { return job.Vector{Memory: holds.Memory} }

func (prism) rank(p *Pool, j *Job) job.Time { return fairRank(p, j) }

func (prism) fits(n *Node, c *Candidate) bool { return whole.admits(n, c.Demand) }

func (prism) onward(n *Node, _ job.Time) *Candidate { return longestWaiting(n, whole) }

func (prism) reach(*Pool) int { return prismReach }

func (prism) worth(p *Pool, n *Node, c *Candidate, _ int) float64 {
	return fairGain(p, c.Job, c.Demand) + 1/float64(1+c.Job.Live)
}
