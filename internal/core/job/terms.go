package job

import (
	"cmp"
	"time"
)

// Terms holds the needs of a job's tasks, how often they may fail, and the job's weight. A resume may change them, and berth set while the job runs.
type Terms struct {
	Need           Resources     `msgpack:"need"` // of a map, or of a task of a bag that has no needs of its own (Work.Further)
	ReduceNeed     Resources     `msgpack:"rneed"`
	Attempts       int           `msgpack:"a"` // attempts of a bag or map task that may fail before the task has failed
	ReduceAttempts int           `msgpack:"ra,omitempty"`
	MaxFails       int           `msgpack:"mf"`           // the job stops when more tasks than this have failed; −1: it never stops. MapReduce: 0
	Throttle       int           `msgpack:"th,omitempty"` // largest number of running tasks; 0: no limit
	MaxMem         int64         `msgpack:"mm,omitempty"` // of a bag's task, as TimeLimit and MaxTimeLimit; see Needs
	TimeLimit      time.Duration `msgpack:"tl,omitempty"`
	MaxTimeLimit   time.Duration `msgpack:"ml,omitempty"`
	AutoMem        bool          `msgpack:"am,omitempty"` // see Needs
	Gang                         // of a bag's task that has none of its own
	Uses           Uses          `msgpack:"us,omitempty"` // likewise
	// NodeMem is the memory of the largest node that a bag's task could have, in bytes; 0: not known. Memory grows no further.
	NodeMem int64 `msgpack:"nm,omitempty"`
	// Requeues says that a task may end without being done and start again (BagSpec.RequeueExit). Lead is how long before the end of
	// its time a task gets a signal; 0: it gets none.
	Requeues bool          `msgpack:"rq,omitempty"`
	Lead     time.Duration `msgpack:"ld,omitempty"`
	// Weight is the job's share of the nodes that it shares with other jobs, relative to their weights; 0: 1.
	Weight float64 `msgpack:"wt,omitempty"`
	// Priority says before which of the user's other jobs the job goes: those of a higher priority go first, whatever the order.
	Priority int `msgpack:"pri,omitempty"`
	// StartWithin is how long the job may wait for its first allocation, from when it is ready to run; 0: as long as it takes.
	StartWithin time.Duration `msgpack:"sw,omitempty"`
	// Due is when the job should be done; 0: it has no deadline.
	Due Time `msgpack:"due,omitempty"`
	// Trusted says that no task starts on a suspected node, even if all nodes are suspected.
	Trusted bool `msgpack:"tr,omitempty"`
	Watch
}

// Share returns the weight of the job, which is 1 by default.
func (t *Terms) Share() float64 { return cmp.Or(t.Weight, 1) }

// Terms returns the terms that the spec sets.
func (s *Spec) Terms() (t Terms) {
	if s.Kind == Bag {
		t = s.Bag.terms()
	} else {
		m := s.MapReduce
		t = Terms{Need: m.MapNeed, ReduceNeed: m.ReduceNeed, Attempts: m.MapAttempts, ReduceAttempts: m.ReduceAttempts}
	}
	r := &s.Request
	t.Weight, t.Priority, t.StartWithin, t.Due, t.Watch = r.Weight, r.Priority, r.StartWithin, r.Due, s.watch()
	return t
}

// terms returns those of a bag that do not depend on its request.
func (b *BagSpec) terms() Terms {
	return Terms{Need: b.Need, MaxMem: b.MaxMem, AutoMem: b.AutoMem, NodeMem: b.NodeMem, TimeLimit: b.TimeLimit, MaxTimeLimit: b.MaxTimeLimit,
		Attempts: b.Retries + 1, MaxFails: b.MaxFails, Throttle: b.Throttle, Requeues: b.RequeueExit > 0, Lead: b.SignalLead, Trusted: b.Trusted, Gang: b.Gang, Uses: b.Uses}
}

// Followup is the part of a job's plan that follows its first allocation. Only jobs with elastic
// allocations (AllocRequest.Elastic) use More, Idle and Scout.
type Followup struct {
	More  []AllocRequest `msgpack:"ma,omitempty" json:"more,omitempty"`   // further allocations, requested at the same time
	Scout int            `msgpack:"sct,omitempty" json:"scout,omitempty"` // number of tasks after which the rest is planned again
	// Idle are idle allocations of earlier jobs that the plan counts on. They are not given back for Config.Yield of the
	// engine before the job is over.
	Idle []AllocID `msgpack:"idl,omitempty" json:"idle,omitempty"` // ids of idle allocations that the plan counts on: they are kept until the job is over
	TaskTimes
}

// TaskTimes are the predicted run times of a job's tasks; 0: unknown. The times of reduces include the
// sort and reduce phases only, because a shuffle lasts as long as the maps and uses no core.
type TaskTimes struct {
	// TaskTime and ReduceTime are the 95 % quantiles of bag tasks or maps, and of reduces.
	TaskTime   time.Duration `msgpack:"tt,omitempty" json:"task_time_ns,omitempty"`   // 95 of 100 bag tasks or maps end within this
	ReduceTime time.Duration `msgpack:"rt,omitempty" json:"reduce_time_ns,omitempty"` // likewise, sort and reduce of a reduce
	// TaskMean and ReduceMean are the means, by which jobs are ordered (sched.Rank).
	TaskMean   time.Duration `msgpack:"tme,omitempty" json:"task_mean_ns,omitempty"`   // mean run time of a bag task or map
	ReduceMean time.Duration `msgpack:"rme,omitempty" json:"reduce_mean_ns,omitempty"` // likewise, sort and reduce of a reduce
}

// Upper returns the 95 % quantiles of bag tasks or maps, and of reduces.
func (t TaskTimes) Upper() [2]time.Duration { return [2]time.Duration{t.TaskTime, t.ReduceTime} }

// Means returns the mean times of bag tasks or maps, and of reduces. For an unknown mean it returns the
// quantile instead.
func (t TaskTimes) Means() [2]time.Duration {
	return [2]time.Duration{cmp.Or(t.TaskMean, t.TaskTime), cmp.Or(t.ReduceMean, t.ReduceTime)}
}
