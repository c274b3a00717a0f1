// Package bound says what mean turnaround no scheduler can beat, not even one that knows all
// that will come and may stop, split and move tasks as it likes. Three relaxations of the
// cluster give three lower bounds; the highest counts.
//
//   - Area: the cluster is one preemptive machine of its total speed. There, shortest
//     remaining work first is best with release dates (L. Schrage, A proof of the optimality
//     of the shortest remaining processing time discipline, 1968); and whatever the cluster
//     does in some time, this machine can do in the same.
//   - Height: each job has the cluster to itself, see Machine.Elastic.
//   - Joint: both at once, job by job, see joint.
//
// Left out, as a bound may: start-up times, requests and their limits, the batch system's
// queue, whole nodes, which task runs where, and what fails.
//
// For the mean of all jobs give rigid and elastic ones. For the elastic jobs alone give
// these alone: that holds whatever becomes of the rigid ones, as they take from the elastic
// jobs and never give; it is reached at best where rigid jobs are kept waiting while there
// is elastic work, and is looser by what they are given.
package bound

import (
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// Machine is the cores of a cluster.
type Machine struct {
	cores  int       // of each node
	slow   []float64 // by n: the speed of the n slowest nodes together; core-seconds a second
	fast   []float64 // by n: of the n fastest cores
	uneven bool      // some speed is not 1, so that run times are rounded to milliseconds
}

// Job is what a bound knows of a job. Times are seconds, work is seconds on a core of speed 1.
type Job struct {
	Submit job.Time
	Work   float64
	Height float64 // that it takes if it has the cluster to itself, at least
	// Tail is how long before its end the middle of its work is, at least: the mean of the
	// instants at which its work is done, each weighed by how much of it.
	Tail float64
}

// Bounds are lower bounds on a mean turnaround, in seconds.
type Bounds struct{ Area, Height, Joint float64 }

// Best returns the highest of them.
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

// Of returns bounds on the mean turnaround of jobs, in any order; all 0 for no jobs.
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

// Rigid returns a rigid job: its work is done at an even rate, on the slowest nodes at best.
func (m *Machine) Rigid(r *workload.Rigid) Job {
	run := min(r.Run, r.Request).Seconds()
	return Job{
		Submit: r.Submit, Work: run * m.slow[min(r.Nodes, len(m.slow)-1)],
		Height: run, Tail: run / 2,
	}
}

// Elastic returns a MapReduce job or bag.
//
// A stage of n tasks runs on n cores at most, so it takes at least its work over the speed
// of the n fastest cores, and its longest task's time on the fastest. Reduces begin to
// compute when the last map has ended and they have shuffled; so the stages' times add up.
//
// The middle of a stage's work is before its end by half its least time at least: no rate is
// higher than that of the n fastest cores, and that lets the mean of the instants be latest
// where all is done at this rate right before the end. Likewise task by task: the middle of
// each is half its own time before its end, which is not after the stage's.
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

// stage is tasks that are ready at once.
type stage struct {
	work  float64
	least float64 // seconds from when they are ready until all have ended
	tail  float64 // from the middle of their work until then
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

// rounded returns the least work that a task may come to: on cores of other speeds than 1
// the simulator rounds its time to a millisecond.
func (m *Machine) rounded(work float64) float64 {
	if !m.uneven {
		return work
	}
	return math.Max(0, work-float64(0.0005*m.fast[1]))
}
