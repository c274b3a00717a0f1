package plan

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// aPlan is a plan with every field that the engine gets.
func aPlan() Plan {
	return Plan{App: "a-1", Kind: job.MapReduce, Tasks: 8, Reduces: 3, InputBytes: 800, Alloc: job.AllocRequest{Nodes: 2, Time: time.Hour, Batch: job.Batch{Partition: "p"}},
		Followup: job.Followup{More: []job.AllocRequest{{Nodes: 1, Time: time.Minute}}, Scout: 4, TaskTimes: job.TaskTimes{TaskTime: 5, ReduceTime: 6, TaskMean: 3, ReduceMean: 4}}, Reasons: []string{"so", "and so"}}
}

func TestWork(t *testing.T) {
	p := aPlan()
	mr := &job.Spec{ID: "mr-1", Name: "n", Kind: job.MapReduce, MapReduce: &job.MapReduceSpec{Reduces: -1, MapNeed: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 2},
		MapAttempts: 3, ReduceAttempts: 5, SlowStart: 0.5}}
	want := job.Work{ID: "mr-1", Name: "n", Kind: job.MapReduce, Tasks: 8, Reduces: 3, SlowStart: 0.5, Alloc: p.Alloc, Followup: p.Followup,
		Terms: job.Terms{Need: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 2}, Attempts: 3, ReduceAttempts: 5,
			Watch: job.Watch{Duplicates: true, ReduceDuplicates: true}}} // in MapReduce two attempts of a task do no harm
	if got := Work(mr, p); !reflect.DeepEqual(got, want) {
		t.Errorf("MapReduce: %+v, want %+v", got, want)
	}
	bag := &job.Spec{ID: "bag-1", Kind: job.Bag, Bag: &job.BagSpec{Need: job.Resources{CPUs: 4}, Retries: 2, MaxFails: -1, Throttle: 7}}
	want = job.Work{ID: "bag-1", Kind: job.Bag, Tasks: 8, Alloc: p.Alloc, Followup: p.Followup, Terms: job.Terms{Need: job.Resources{CPUs: 4}, Attempts: 3, MaxFails: -1, Throttle: 7}}
	if got := Work(bag, p); !reflect.DeepEqual(got, want) {
		t.Errorf("bag: %+v, want %+v", got, want)
	}
}

// TestDemandsOfProfile: the demands of phases in earlier runs reach the engine with the plan; a profile of
// an older version without measured phases has none.
func TestDemandsOfProfile(t *testing.T) {
	var c predict.Collector
	c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(2 * time.Second), CPU: 2 * time.Second, PeakMemory: 5000, DiskBytes: 512}})
	c.AddCurve(job.Curve{Source: job.ProgressCPU}) // that of an attempt of which none was recorded
	c.AddCurve(job.Curve{Source: job.ProgressCPU, Marks: []float64{0, 0, 0, 2, 2, 2}})
	c.AddCurve(job.Curve{Kind: job.MapTask, Source: job.ProgressCPU, Marks: []float64{0, 0, 0, 2, 2, 2}}) // no such was counted
	prof := &predict.Profile{}
	prof.AddRun(predict.Size{Kind: job.Bag, Tasks: 1}, 1, c.Measures())
	p := aPlan()
	p.Kind, p.Demands, p.Curves = job.Bag, demandsOf(prof), prof.Measures.Curves()
	bag := &job.Spec{ID: "bag-1", Kind: job.Bag, Bag: &job.BagSpec{}}
	w := Work(bag, p)
	if len(w.Demands) != 1 || w.Demands[0].Phase != job.PhaseCompute || w.Demands[0].Demand.Memory != 5000 || w.Demands[0].Seconds == 0 {
		t.Errorf("got %+v", w.Demands)
	}
	if len(w.Curves) != 1 || len(w.Curves[0].Marks) != 6 {
		t.Errorf("got %+v", w.Curves)
	}
	old := &predict.Profile{}
	old.AddRun(predict.Size{Kind: job.Bag, Tasks: 1}, 1, predict.Measures{predict.PhasePart(job.PhaseCompute): &predict.Measure{CPU: 3}})
	if d := demandsOf(old); d != nil {
		t.Errorf("of an old profile: %+v", d)
	}
}

// TestAnswer: an error that only the user can mend has no time of a next try.
func TestAnswer(t *testing.T) {
	p := aPlan()
	want := job.Answer{Scout: 4, TaskTimes: p.TaskTimes, Decision: "so", Allocs: append([]job.AllocRequest{p.Alloc}, p.More...)}
	if got := Answer(100, p, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.Predicted, p.Outlook = &Prediction{Interval: predict.Interval{Low: 30, Up: 55}}, &Outlook{Expectation: Expectation{Start: 5, Turnaround: 45}}
	if got := Answer(100, p, nil).Turnaround; got != (job.Turnaround{Low: 35 * time.Second, Up: time.Minute, Mean: 45 * time.Second}) {
		t.Errorf("the turnaround is predicted as %+v", got)
	}
	p.Alloc.Nodes = 0
	if got := Answer(100, p, nil); got.Allocs != nil {
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
		if got := Answer(100, Plan{}, c.err); !reflect.DeepEqual(got, job.Answer{Failed: c.err.Error(), Retry: c.retry}) {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestAgain: the rest is requested in the job's partition, by the measurements of this run.
func TestAgain(t *testing.T) {
	var m predict.Collector
	for range 3 {
		m.Add(job.MapTask, []job.PhaseStat{{Phase: job.PhaseMap, End: 100}})
	}
	spec, prof := &job.Spec{Kind: job.MapReduce, Request: job.Request{Partition: "p,q"}}, &predict.Profile{App: "a-1"}
	asked := Question{Now: 50, Spec: spec, Profile: prof, Remaining: &job.Remaining{Tasks: 5}}
	q := asked.Again(aPlan(), m.Measures())
	if q.Now != 50 || q.Profile != prof || q.Remaining != asked.Remaining || q.Counts.Tasks != 8 || q.Counts.InputBytes != 800 || q.Spec.Request.Partition != "p" || spec.Request.Partition != "p,q" {
		t.Errorf("question %+v, spec %+v", q, spec)
	}
	maps := q.Measured.Measures.Get(predict.MapTask).Time
	if maps.Count != 3 || q.Measured.App != "a-1" || q.Measured.MinInput != 300 || q.Measured.Latest != 50 {
		t.Errorf("measured %+v", q.Measured)
	}
	if q := asked.Again(aPlan(), nil); q.Measured != nil {
		t.Errorf("nothing is done, but measured is %+v", q.Measured)
	}
}

func TestServes(t *testing.T) {
	snap := &cluster.Snapshot{Driver: "slurm", Queue: &cluster.Queue{Partitions: []cluster.Partition{{Name: "o"}, {Name: "p", Default: true}}}}
	own := job.AllocRequest{On: "slurm", Scratch: "/s", Elastic: true, Batch: job.Batch{Partition: "p", Account: "a", Name: "other"}}
	r := job.Request{Scratch: "/s", Account: "a"}
	if !Serves(snap, &job.Spec{Request: r}, own) {
		t.Error("the same is not served")
	}
	for name, change := range map[string]func(r *job.Request, req *job.AllocRequest){
		"another driver":    func(_ *job.Request, req *job.AllocRequest) { req.On = "local" },
		"another cluster":   func(_ *job.Request, req *job.AllocRequest) { req.Batch.Cluster = "c2" },
		"another partition": func(_ *job.Request, req *job.AllocRequest) { req.Batch.Partition = "q" },
		"one that it names": func(r *job.Request, _ *job.AllocRequest) { r.Partition = "o" },
		"another account":   func(r *job.Request, _ *job.AllocRequest) { r.Account = "b" },
		"another scratch":   func(r *job.Request, _ *job.AllocRequest) { r.Scratch = "" },
		"a number of nodes": func(r *job.Request, _ *job.AllocRequest) { r.MinNodes = 2 },
		"all the time":      func(r *job.Request, _ *job.AllocRequest) { r.WallTime = job.WallMax },
	} {
		spec, req := &job.Spec{Request: r}, own
		if change(&spec.Request, &req); Serves(snap, spec, req) {
			t.Errorf("%s is served", name)
		}
	}
}

// TestOpen: of an open bag nothing is predicted, except what its tasks take, and its later plans know of the tasks that were added.
func TestOpen(t *testing.T) {
	spec := job.New(job.Bag, "/w")
	spec.Bag.Command, spec.Bag.Open = []string{"{}"}, true
	spec.Normalize()
	has := job.Resources{CPUs: 4, Mem: 8 << 30}
	snap := cluster.Snapshot{Driver: "local", Nodes: []cluster.Node{{Name: "here", Capacity: has, Free: has}}}
	q := Question{Now: 1, Snap: snap, Spec: spec, Profile: mixProfile(spec, rand.New(rand.NewPCG(1, 1)))}
	p, err := Decide(q)
	if err != nil || p.Predicted != nil || p.TaskMean == 0 || p.Decision() != "an open bag: its tasks are planned when they are added" {
		t.Errorf("without tasks: %q, predicted %v, a task takes %v, %v", p.Decision(), p.Predicted, p.TaskMean, err)
	}
	q.Remaining = &job.Remaining{Tasks: 7}
	if q = q.Again(p, nil); q.Counts.Tasks != 7 {
		t.Errorf("with seven tasks it is planned for %d", q.Counts.Tasks)
	}
}

// TestTimes: factors have two digits, and a small one reads as a division.
func TestTimes(t *testing.T) {
	for f, want := range map[float64]string{8: "×8", 0.25: "×0.25", 1000: "×1000", 0.01: "×0.01", 1e-5: "÷100,000"} {
		if got := times(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
