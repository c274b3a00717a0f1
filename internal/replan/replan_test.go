package replan

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"berth/internal/engine"
	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/plan"
	"berth/internal/predict"
)

// planned is a plan with all that the engine is told of it.
func planned() plan.Plan {
	return plan.Plan{App: "a-1", Kind: job.MapReduce, Tasks: 8, Reduces: 3, InputBytes: 800, Alloc: job.AllocRequest{Nodes: 2, Time: time.Hour, Batch: job.Batch{Partition: "p"}},
		Course: job.Course{More: []job.AllocRequest{{Nodes: 1, Time: time.Minute}}, Scout: 4, TaskTimes: job.TaskTimes{TaskTime: 5, ReduceTime: 6, TaskMean: 3, ReduceMean: 4}}, Reasons: []string{"so", "and so"}}
}

func TestWork(t *testing.T) {
	p := planned()
	mr := &job.Spec{ID: "mr-1", Name: "n", Kind: job.MapReduce, MapReduce: &job.MapReduceSpec{Reduces: -1, MapNeed: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 2},
		MapAttempts: 3, ReduceAttempts: 5, SlowStart: 0.5}}
	want := job.Work{ID: "mr-1", Name: "n", Kind: job.MapReduce, Tasks: 8, Reduces: 3, SlowStart: 0.5, Alloc: p.Alloc, Course: p.Course,
		Terms: job.Terms{Need: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 2}, Attempts: 3, ReduceAttempts: 5}}
	if got := Work(mr, p); !reflect.DeepEqual(got, want) {
		t.Errorf("MapReduce: %+v, want %+v", got, want)
	}
	bag := &job.Spec{ID: "bag-1", Kind: job.Bag, Bag: &job.BagSpec{Need: job.Resources{CPUs: 4}, Retries: 2, MaxFails: -1, Throttle: 7}}
	want = job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 8, Alloc: p.Alloc, Course: p.Course, Terms: job.Terms{Need: job.Resources{CPUs: 4}, Attempts: 3, MaxFails: -1, Throttle: 7}}
	if got := Work(bag, p); !reflect.DeepEqual(got, want) {
		t.Errorf("bag: %+v, want %+v", got, want)
	}
	resume := engine.Resume{JobResumed: event.JobResumed{Job: "bag-1", Failed: true, Terms: &want.Terms, Alloc: p.Alloc, Course: p.Course}}
	if got := Resume(bag, true, p); !reflect.DeepEqual(got, resume) {
		t.Errorf("resume: %+v, want %+v", got, resume)
	}
}

// TestPlanned: what only the user can mend is told without a time to try again.
func TestPlanned(t *testing.T) {
	p := planned()
	want := engine.Planned{JobPlanned: event.JobPlanned{Job: "mr-1", Scout: 4, TaskTimes: p.TaskTimes, Decision: "so"}, Allocs: append([]job.AllocRequest{p.Alloc}, p.More...)}
	if got := Planned("mr-1", 100, p, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.Alloc.Nodes = 0
	if got := Planned("mr-1", 100, p, nil); got.Allocs != nil {
		t.Errorf("a plan for what is there asks for %+v", got.Allocs)
	}
	for _, c := range []struct {
		err   error
		retry job.Time
	}{
		{&job.Error{Class: job.User, What: "too large"}, 0},
		{&job.Error{Class: job.Transient, What: "away"}, job.Time(100 + Retry)},
		{errors.New("odd"), job.Time(100 + Retry)},
	} {
		if got := Planned("mr-1", 100, plan.Plan{}, c.err); got.Failed != c.err.Error() || got.Retry != c.retry || got.Job != "mr-1" || got.Allocs != nil {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestQuestion: the rest is asked for in the partition that the job has, with what it has
// measured, and allocations begin when it is best known.
func TestQuestion(t *testing.T) {
	var m Measured
	for range 3 {
		m.Add(job.MapTask, event.AttemptEnded{Outcome: event.Done, Stats: []job.PhaseStat{{Phase: job.PhaseMap, End: 100}}})
	}
	m.Add(job.MapTask, event.AttemptEnded{Outcome: event.Failed, Stats: []job.PhaseStat{{Phase: job.PhaseMap, End: 900}}})
	spec, prof := &job.Spec{Kind: job.MapReduce, Request: job.Request{Partition: "p,q"}}, &predict.Profile{App: "a-1"}
	request := job.AllocRequest{Nodes: 1, Start: 7}
	rest := engine.Rest{Tasks: 5, Reduces: 3, CutShort: 9, Live: []engine.LiveAlloc{
		{Request: request, Began: 10, Start: 11, Ends: 99}, {Request: request, Start: 11}, {Request: request}}}
	q := Question(Known{Now: 50, Spec: spec, First: planned(), Profile: prof, Measured: &m}, rest)
	want := &plan.Rest{Tasks: 5, Reduces: 3, CutShort: 9, Live: []plan.Live{{Request: request, Start: 10, Ends: 99}, {Request: request, Start: 11}, {Request: request, Start: 7}}}
	if !reflect.DeepEqual(q.Rest, want) {
		t.Errorf("rest %+v, want %+v", q.Rest, want)
	}
	if q.Now != 50 || q.Profile != prof || q.Counts != (plan.Counts{Tasks: 8, InputBytes: 800}) || q.Spec.Request.Partition != "p" || spec.Request.Partition != "p,q" {
		t.Errorf("question %+v, spec %+v", q, spec)
	}
	maps := q.Measured.Measures.Get(predict.MapTask).Time
	if maps.Count != 3 || q.Measured.App != "a-1" || q.Measured.MinInput != 300 || q.Measured.Latest != 50 {
		t.Errorf("measured %+v", q.Measured)
	}
	if q := Question(Known{Spec: spec, First: planned(), Measured: &Measured{}}, rest); q.Measured != nil {
		t.Errorf("nothing is done, but measured is %+v", q.Measured)
	}
}

func TestServes(t *testing.T) {
	own := job.AllocRequest{On: "slurm", Scratch: "/s", Elastic: true, Batch: job.Batch{Partition: "p", Account: "a", Name: "other"}}
	r := job.Request{Scratch: "/s", Account: "a"}
	if !Serves(&r, "slurm", "", "p", own) {
		t.Error("the same is not served")
	}
	for name, change := range map[string]func(r *job.Request, req *job.AllocRequest){
		"another driver":    func(_ *job.Request, req *job.AllocRequest) { req.On = "local" },
		"another partition": func(_ *job.Request, req *job.AllocRequest) { req.Batch.Partition = "q" },
		"another account":   func(r *job.Request, _ *job.AllocRequest) { r.Account = "b" },
		"another scratch":   func(r *job.Request, _ *job.AllocRequest) { r.Scratch = "" },
		"a number of nodes": func(r *job.Request, _ *job.AllocRequest) { r.MinNodes = 2 },
		"all the time":      func(r *job.Request, _ *job.AllocRequest) { r.WallTime = job.WallMax },
	} {
		r, req := r, own
		if change(&r, &req); Serves(&r, "slurm", "", "p", req) {
			t.Errorf("%s is served", name)
		}
	}
	for _, c := range []struct {
		a    engine.AllocStatus
		want bool
	}{{engine.AllocStatus{Idle: true, Begun: true, Request: own}, true}, {engine.AllocStatus{Begun: true, Request: own}, false},
		{engine.AllocStatus{Idle: true, Request: own}, false}, {engine.AllocStatus{Idle: true, Begun: true}, false}} {
		if Idle(c.a) != c.want {
			t.Errorf("%+v idle: %t", c.a, !c.want)
		}
	}
}
