package straggler

import (
	"time"

	"berth/internal/job"
)

// Places returns how many attempts that take so much of a node find their cores and their memory where so much is free.
func Places(free, takes job.Vector) int {
	k := free.CPU / max(1, takes.CPU)
	if takes.Memory > 0 {
		k = min(k, free.Memory/takes.Memory)
	}
	return int(max(0, k))
}

// Allow sets the Budget of a View that is complete otherwise: the share of what the job has taken and is expected to take yet, mean for
// each task that is left (more where tasks run for longer than that already), without what duplicates spent for nothing and what those that run have taken.
func (v *View) Allow(share float64, mean, spent time.Duration) {
	v.Mean = max(mean, v.age()*3/2)
	useful := v.Past.Busy + time.Duration(v.Left)*v.Mean
	for i := range v.Running {
		if r := &v.Running[i]; r.Duplicate {
			spent += r.Age(v.Now)
		}
	}
	v.Budget = time.Duration((share*useful.Seconds() - spent.Seconds()) * v.Cores * float64(time.Second))
}

// age returns the median age of the attempts that run: while none was done it is all that is known of how long they take.
func (v *View) age() time.Duration {
	ages := make([]float64, len(v.Running))
	for i := range v.Running {
		ages[i] = v.Running[i].Age(v.Now).Seconds()
	}
	return seconds(median(ages))
}
