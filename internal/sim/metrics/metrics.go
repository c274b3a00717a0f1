// Package metrics sums up schedules by the measures that the field uses: wait, turnaround
// (flow time), bounded slowdown, utilisation and makespan (models.md, section 3; Feitelson
// et al. 1997). It is pure. Times are added as whole nanoseconds, so that the order of the
// jobs and the machine change no digit of what is printed.
package metrics

import (
	"time"

	"berth/internal/job"
)

// Tau is the bound of the bounded slowdown: shorter jobs count as if they ran so long.
const Tau = 10 * time.Second

// Summary is what a schedule comes to; of no jobs all is 0. Times are in seconds.
type Summary struct {
	Jobs           int
	MeanWait       float64 // from submission to start
	MeanTurnaround float64 // from submission to end
	AveBSLD        float64 // mean of max(1, (wait + run) / max(run, Tau))
	Makespan       float64 // from the first submission to the last end
	NodeSeconds    float64 // in which jobs had nodes
	// Utilization is NodeSeconds over those that the cluster had from the first submission
	// to the last end.
	Utilization float64
}

// Meter takes in jobs one by one. The zero value has seen none.
type Meter struct {
	jobs             int
	wait, turnaround sum
	held             sum // node-time
	bsld             float64
	first, last      job.Time
}

// sum is a sum of durations, which may be longer than one of them can be.
type sum struct{ sec, nano int64 }

func (s *sum) add(times int64, d time.Duration) {
	s.sec += times * int64(d/time.Second)
	s.nano += times * int64(d%time.Second)
}

func (s *sum) seconds() float64 {
	carry := s.nano / int64(time.Second)
	return float64(s.sec+carry) + float64(s.nano%int64(time.Second))/1e9
}

// Add takes in a job that had so many nodes from start to end.
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

// Summary returns what the jobs come to on a cluster of so many nodes.
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
