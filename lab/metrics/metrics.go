// Package metrics summarizes schedules by the field's usual measures: wait, turnaround (flow time),
// bounded slowdown, utilization and makespan (Feitelson et al. 1997). Call
// Meter.Add for every job, then Meter.Summary. The package is pure. It adds times as whole
// nanoseconds, so that neither the order of the jobs nor the machine changes a printed digit.
package metrics

import (
	"time"

	"berth/internal/core/job"
)

// Tau is the bound of the bounded slowdown: shorter jobs count as if they ran for Tau.
const Tau = 10 * time.Second

// Summary is the summary of a schedule; without jobs all values are 0. Times are in seconds.
type Summary struct {
	Jobs           int
	MeanWait       float64 // from submission to start
	MeanTurnaround float64 // from submission to end
	AveBSLD        float64 // mean of max(1, (wait + run) / max(run, Tau))
	Makespan       float64 // from the first submission to the last end
	NodeSeconds    float64 // allocated to jobs
	// Utilization is NodeSeconds divided by the node-seconds of the cluster from the first
	// submission to the last end.
	Utilization float64
}

// Meter accumulates jobs. The zero value has no jobs.
type Meter struct {
	jobs             int
	wait, turnaround sum
	held             sum // allocated node-time
	bsld             float64
	first, last      job.Time
}

// sum is a sum of durations that may exceed the range of time.Duration.
type sum struct{ sec, nano int64 }

func (s *sum) add(times int64, d time.Duration) {
	s.sec += times * int64(d/time.Second)
	s.nano += times * int64(d%time.Second)
}

func (s *sum) seconds() float64 {
	carry := s.nano / int64(time.Second)
	return float64(s.sec+carry) + float64(s.nano%int64(time.Second))/1e9
}

// Add adds a job that had a number of nodes from start to end.
func (m *Meter) Add(submit, start, end job.Time, nodes int) {
	if m.jobs == 0 {
		m.first, m.last = submit, end
	}
	m.jobs++
	m.first, m.last = min(m.first, submit), max(m.last, end)
	m.wait.add(1, start.Sub(submit))
	m.turnaround.add(1, end.Sub(submit))
	m.held.add(int64(nodes), end.Sub(start))
	m.bsld += BSLD(submit, start, end)
}

// BSLD returns the bounded slowdown of a job.
func BSLD(submit, start, end job.Time) float64 {
	return max(1, end.Sub(submit).Seconds()/max(end.Sub(start), Tau).Seconds())
}

// Summary returns the summary of the jobs on a cluster with the given number of nodes.
func (m *Meter) Summary(nodes int) Summary {
	if m.jobs == 0 {
		return Summary{}
	}
	n := float64(m.jobs)
	s := Summary{
		Jobs: m.jobs, MeanWait: m.wait.seconds() / n, MeanTurnaround: m.turnaround.seconds() / n, AveBSLD: m.bsld / n,
		Makespan: m.last.Sub(m.first).Seconds(), NodeSeconds: m.held.seconds(),
	}
	if s.Makespan > 0 {
		s.Utilization = s.NodeSeconds / (float64(nodes) * s.Makespan)
	}
	return s
}
