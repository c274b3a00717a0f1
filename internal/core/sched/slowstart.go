package sched

import "math"

// SlowStart returns how many of a job's maps must be done before its reduces start.
// share is in 0…1 (Hadoop's mapreduce.job.reduce.slowstart.completedmaps).
func SlowStart(maps int, share float64) int {
	n := int(math.Ceil(share*float64(maps) - 1e-9)) // 0.05 of 20 is 1, not 2
	return max(0, min(maps, n))
}
