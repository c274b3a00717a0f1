package evaluate

import (
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/sim/batch"
	"berth/internal/sim/metrics"
	"berth/internal/workload"
)

// dayLong is how long a day of a log is.
const dayLong = 24 * time.Hour

// Day returns the jobs that were submitted on a day of a log, counted from 1 and from its
// first job, as a workload that begins with the day.
func Day(log []workload.Rigid, day int) []workload.Rigid {
	if len(log) == 0 {
		return nil
	}
	from := log[0].Submit.Add(time.Duration(day-1) * dayLong)
	first, _ := slices.BinarySearchFunc(log, from, func(r workload.Rigid, t job.Time) int { return int(min(max(r.Submit-t, -1), 1)) })
	var jobs []workload.Rigid
	for _, r := range log[first:] {
		if r.Submit.Sub(from) >= dayLong {
			break
		}
		r.Submit = job.Time(r.Submit.Sub(from))
		jobs = append(jobs, r)
	}
	return jobs
}

// NearestDay returns the day of a log on which its jobs alone, on a cluster that is empty
// when the day begins, come nearest to what the paper's table 3 has for HPC only: the least
// sum of squares of the logarithms of mean turnaround and of utilization over the paper's.
// The earlier of equal days; 1 of an empty log.
func NearestDay(nodes int, p batch.Policy, log []workload.Rigid) int {
	found := paperTable3[OnlyHPC][""]
	best, least := 1, math.Inf(1)
	if len(log) == 0 {
		return best
	}
	days := int(log[len(log)-1].Submit.Sub(log[0].Submit)/dayLong) + 1
	for day := 1; day <= days; day++ {
		jobs := Day(log, day)
		if len(jobs) == 0 {
			continue
		}
		s := summary(nodes, p, jobs)
		far := math.Pow(math.Log(s.MeanTurnaround/found[ofHPC]), 2) + math.Pow(math.Log(s.Utilization/found[utilization]), 2)
		if far < least {
			best, least = day, far
		}
	}
	return best
}

func summary(nodes int, p batch.Policy, jobs []workload.Rigid) metrics.Summary {
	var m metrics.Meter
	for i, start := range batch.Replay(nodes, p, jobs) {
		j := &jobs[i]
		m.Add(j.Submit, start, start.Add(min(j.Run, j.Request)), j.Nodes)
	}
	return m.Summary(nodes)
}
