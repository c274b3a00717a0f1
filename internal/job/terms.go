package job

import (
	"cmp"
	"time"
)

// Terms is what a job's tasks need, how often they may fail, and what the job counts beside others, as its spec says. A resume may change it.
type Terms struct {
	Need           Resources `msgpack:"need"` // of a bag or map task
	ReduceNeed     Resources `msgpack:"rneed"`
	Attempts       int       `msgpack:"a"` // attempts of a bag or map task that may fail before the task has failed
	ReduceAttempts int       `msgpack:"ra,omitempty"`
	MaxFails       int       `msgpack:"mf"`           // failed tasks after which the job stops; −1: never stops. MapReduce: 0
	Throttle       int       `msgpack:"th,omitempty"` // at most so many tasks running; 0: no limit
	// Weight is the job's share of nodes that it has in common with others, beside theirs; 0: 1.
	Weight float64 `msgpack:"wt,omitempty"`
	// Trusted says that no task ever starts on a node that is suspected, not even where all nodes are.
	Trusted bool `msgpack:"tr,omitempty"`
	Watch
}

// Share returns the weight of the job, 1 where none was given.
func (t *Terms) Share() float64 { return cmp.Or(t.Weight, 1) }

// Terms returns the terms that the spec sets.
func (s *Spec) Terms() Terms {
	if b := s.Bag; s.Kind == Bag {
		return Terms{Need: b.Need, Attempts: b.Retries + 1, MaxFails: b.MaxFails, Throttle: b.Throttle, Weight: s.Request.Weight, Trusted: b.Trusted, Watch: s.watch()}
	}
	m := s.MapReduce
	return Terms{Need: m.MapNeed, ReduceNeed: m.ReduceNeed, Attempts: m.MapAttempts, ReduceAttempts: m.ReduceAttempts, Weight: s.Request.Weight, Watch: s.watch()}
}

// Course is how a job goes on by its plan after its first allocation is asked for. Only elastic
// allocations (AllocRequest.Elastic) need More and Scout.
type Course struct {
	More  []AllocRequest `msgpack:"ma,omitempty" json:"more,omitempty"`   // further allocations that are asked for with the first
	Scout int            `msgpack:"sct,omitempty" json:"scout,omitempty"` // once so many tasks are done the rest is planned anew from what they showed; 0: no need
	TaskTimes
}

// TaskTimes is how long the tasks of a job are expected to take; 0: unknown. Of reduces the sort and
// the reduce count, as a shuffle lasts as long as the maps do and takes no core.
type TaskTimes struct {
	// TaskTime and ReduceTime are what 95 of 100 bag tasks or maps, and reduces, take at most.
	TaskTime   time.Duration `msgpack:"tt,omitempty" json:"task_time_ns,omitempty"`
	ReduceTime time.Duration `msgpack:"rt,omitempty" json:"reduce_time_ns,omitempty"`
	// TaskMean and ReduceMean are the means. The order of jobs goes by them (sched.Rank).
	TaskMean   time.Duration `msgpack:"tme,omitempty" json:"task_mean_ns,omitempty"`
	ReduceMean time.Duration `msgpack:"rme,omitempty" json:"reduce_mean_ns,omitempty"`
}

// Upper returns the times that tasks take at most: of bag tasks or maps, and of reduces.
func (t TaskTimes) Upper() [2]time.Duration { return [2]time.Duration{t.TaskTime, t.ReduceTime} }

// Means returns the mean times of bag tasks or maps, and of reduces; where a mean is unknown, the
// upper time is better than nothing.
func (t TaskTimes) Means() [2]time.Duration {
	return [2]time.Duration{cmp.Or(t.TaskMean, t.TaskTime), cmp.Or(t.ReduceMean, t.ReduceTime)}
}
