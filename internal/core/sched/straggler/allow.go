package straggler

import (
	"time"

	"berth/internal/core/job"
)

// Fitting returns how many attempts with the demand takes fit the free cores and memory.
func Fitting(free, takes job.Vector) int {
	k := free.CPU / max(1, takes.CPU)
	if takes.Memory > 0 {
		k = min(k, free.Memory/takes.Memory)
	}
	return int(max(0, k))
}

// Allow sets the Budget of a View that is otherwise complete. The budget is the given share of the core time that the job has taken and is expected
// to take, minus what duplicates have spent in vain and what running duplicates have taken. mean is the expected time of each remaining
// task; if the running tasks have taken longer already, their median age is used.
func (v *View) Allow(share float64, mean, spent time.Duration) {
	v.Mean = max(mean, v.age()*3/2)
	useful := v.Past.Busy + time.Duration(v.Left)*v.Mean
	for i := range v.Running {
		if r := &v.Running[i]; r.Duplicate {
			spent += r.Age(v.Now)
		}
	}
	v.Budget = job.Seconds((share*useful.Seconds() - spent.Seconds()) * v.Cores)
}

// age returns the median age of the running attempts, which is the only measure of their time while none was done.
func (v *View) age() time.Duration {
	ages := make([]float64, len(v.Running))
	for i := range v.Running {
		ages[i] = v.Running[i].Age(v.Now).Seconds()
	}
	return seconds(median(ages))
}
