package loads

import (
	"time"

	"berth/internal/simulate/workload"
)

// Work returns the core-seconds of all tasks of a job.
func Work(e *workload.Elastic) float64 {
	sum := time.Duration(0)
	for _, ds := range [][]time.Duration{e.Maps, e.Reduces} {
		for _, d := range ds {
			sum += d
		}
	}
	at := 0
	for _, r := range e.Which {
		for _, d := range e.Maps[at : at+int(r.Tasks)] {
			if r.Index > 0 {
				sum += d * time.Duration(e.Further[r.Index-1].CPUs-1)
			}
		}
		at += int(r.Tasks)
	}
	return sum.Seconds()
}
