// Package bound computes lower bounds on the mean turnaround of any scheduler, even one that knows
// all future jobs and may stop, split and move tasks freely. Three relaxations of the cluster give
// three lower bounds; Bounds.Best is the highest of them:
//
//   - Area: the cluster is one preemptive machine of its total speed. On one machine, shortest
//     remaining work first is optimal with release dates (L. Schrage, A proof of the optimality
//     of the shortest remaining processing time discipline, 1968), and this machine can do
//     whatever the cluster does in the same time.
//   - Height: each job has the cluster to itself, see Machine.Elastic.
//   - Joint: both relaxations together, job by job, see fluid.joint.
//
// The bounds ignore start-up times, requests and their limits, the batch system's queue, the
// allocation of whole nodes, the placement of tasks, and failures. Ignoring them can only lower a
// bound.
//
//	m := bound.NewMachine(nodes, cores, nil)
//	best := m.Mean(rigid, elastic).Best() // seconds
//
// Pass rigid and elastic jobs for the mean of all jobs, or the elastic jobs alone for their own
// mean. The bound for the elastic jobs alone is valid for any rigid jobs, because rigid jobs only
// delay elastic ones. It does not count the work of rigid jobs.
package bound

import (
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// Machine describes the cores of a cluster.
type Machine struct {
	cores  int       // of each node
	slow   []float64 // by n: total speed of the n slowest nodes, in core-seconds a second
	fast   []float64 // by n: total speed of the n fastest cores
	uneven bool      // some speed is not 1, so that run times are rounded to milliseconds
}

// Job is a job as the bounds see it. Times are seconds, and work is seconds on a core of speed 1.
type Job struct {
	Submit job.Time
	Work   float64
	Height float64 // lower bound of its time alone on the cluster
	// Tail is a lower bound of the time between the middle of the job's work and its end. The middle
	// is the mean of the instants at which the work is done, weighted by the amount of work.
	Tail float64
}

// Bounds are lower bounds on a mean turnaround, in seconds.
type Bounds struct{ Area, Height, Joint float64 }

// Best returns the highest bound.
func (b Bounds) Best() float64 { return max(b.Area, b.Height, b.Joint) }

// Mean returns bounds on the mean turnaround of rigid and elastic jobs together.
func (m *Machine) Mean(rigid []workload.Rigid, elastic []workload.Elastic) Bounds {
	jobs := make([]Job, 0, len(rigid)+len(elastic))
	for i := range rigid {
		jobs = append(jobs, m.Rigid(&rigid[i]))
	}
	for i := range elastic {
		jobs = append(jobs, m.Elastic(&elastic[i]))
	}
	return m.Of(jobs)
}

// Of returns bounds on the mean turnaround of jobs in any order. Without jobs all bounds are 0.
func (m *Machine) Of(jobs []Job) Bounds {
	if len(jobs) == 0 {
		return Bounds{}
	}
	f := newFluid(m.fast[len(m.fast)-1], jobs)
	n := float64(len(jobs))
	b := Bounds{Area: f.srpt() / n}
	for i := range f.jobs {
		b.Height += f.jobs[i].Height
	}
	b.Joint = f.joint() / n
	b.Height /= n
	return b
}

// Rigid converts a rigid job. Its work proceeds at a constant rate, for the bound on the slowest
// nodes.
func (m *Machine) Rigid(r *workload.Rigid) Job {
	run := min(r.Run, r.Request).Seconds()
	return Job{
		Submit: r.Submit, Work: run * m.slow[min(r.Nodes, len(m.slow)-1)],
		Height: run, Tail: run / 2,
	}
}

// Elastic converts a MapReduce job or a bag.
//
// A stage of n tasks runs on at most n cores. So it takes at least its work divided by the speed of
// the n fastest cores, and at least the time of its longest task on the fastest core. Reduces begin
// to compute after the last map and their shuffle, so that the times of the stages add up.
//
// The middle of a stage's work precedes its end by at least half the smallest possible time: no rate
// exceeds the speed of the n fastest cores, and the middle is latest if all work is done at this
// rate right before the end. The same holds task by task: the middle of each task precedes its end
// by half its time, and no task ends after its stage.
func (m *Machine) Elastic(e *workload.Elastic) Job {
	maps := m.stage(e.Maps, nil, nil)
	reduces := m.stage(e.Reduces, e.FirstShuffle, e.Shuffle)
	j := Job{Submit: e.Submit, Work: maps.work + reduces.work, Height: maps.least + reduces.least}
	if j.Work > 0 {
		share := maps.work / j.Work
		j.Tail = float64(share*(reduces.least+maps.tail)) + float64((1-share)*reduces.tail)
	}
	return j
}

// stage is a set of tasks that are ready at the same time.
type stage struct {
	work  float64
	least float64 // lower bound of the seconds from ready to the end of the last task
	tail  float64 // lower bound of the seconds from the middle of their work to the end
}

func (m *Machine) stage(tasks, first, other []time.Duration) (s stage) {
	if len(tasks) == 0 {
		return s
	}
	rate := m.fast[min(len(tasks), len(m.fast)-1)]
	fastest := m.fast[1]
	squares := 0.0
	for i, d := range tasks {
		work := m.rounded(d.Seconds())
		shuffle := time.Duration(0)
		if first != nil && other != nil {
			shuffle = min(first[i], other[i])
		}
		s.work += work
		squares += float64(work * work)
		s.least = max(s.least, shuffle.Seconds()+float64(work/fastest))
	}
	s.least = max(s.least, s.work/rate)
	if s.work > 0 {
		s.tail = max(squares/s.work/fastest, s.work/rate) / 2
	}
	return s
}

// rounded returns the least work that a task may count: on cores of speeds other than 1 the
// simulator rounds its time to a millisecond.
func (m *Machine) rounded(work float64) float64 {
	if !m.uneven {
		return work
	}
	return math.Max(0, work-float64(0.0005*m.fast[1]))
}
