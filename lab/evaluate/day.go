package evaluate

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
	"berth/lab/metrics"
	"berth/lab/replay"
)

// dayLong is the length of a day of a log.
const dayLong = 24 * time.Hour

// Day returns the jobs submitted on a day of a log, as a workload that begins with the day. Days
// count from 1 and begin with the first job of the log.
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

// NearestDay returns the day of a log whose jobs, on an initially empty cluster, are closest to the
// figures of the paper's table 3 for HPC jobs only. The distance is the sum of squared logarithms of
// the ratios of mean turnaround and of utilization to the paper's. Of equally distant days it
// returns the first, and 1 for an empty log.
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
	for i, start := range replay.Run(nodes, p, jobs) {
		j := &jobs[i]
		m.Add(j.Submit, start, start.Add(min(j.Run, j.Request)), j.Nodes)
	}
	return m.Summary(nodes)
}
