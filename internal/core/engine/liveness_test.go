package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/core/step"
	"berth/test/support/enginetest"
	"berth/test/support/seeds"
)

// planner answers requests for plans as a coordinator does, by package plan, on a cluster whose other jobs change from plan to plan.
type planner struct {
	w      *enginetest.World
	choose func(n int) int
	fail   func(format string, args ...any)
}

// answer plans what is left of a job. A plan may never leave tasks without an allocation, so none is requested anew.
func (p *planner) answer(a step.Plan) job.Answer {
	if a.Remaining.Anew {
		p.fail("%v: the last plan of %s requested nothing that serves its tasks: %s; %+v", time.Duration(p.w.Now), a.Job, a.Reason, a.Remaining)
	}
	work := p.w.Work(a.Job)
	spec := &job.Spec{ID: work.ID, Name: "x", Kind: work.Kind}
	now, _ := p.w.Engine.Job(a.Job)
	spec.Request.Partition, spec.Request.NoScout = now.Alloc.Batch.Partition, p.choose(4) == 0
	if work.Kind == job.Bag {
		spec.Bag = &job.BagSpec{Command: []string{"x"}, Need: work.Need, Gang: work.Gang, Open: work.Open, Throttle: work.Throttle}
	} else {
		spec.MapReduce = &job.MapReduceSpec{Reduces: work.Reduces, MapNeed: work.Need, ReduceNeed: work.ReduceNeed}
	}
	q := plan.Question{Now: p.w.Now, Snap: p.snapshot(spec.Request.Partition), Spec: spec, Remaining: &a.Remaining, Counts: plan.Counts{Tasks: work.Tasks}, Brief: true}
	if p.choose(3) == 0 {
		q.Profile = p.profile(spec, work.Total())
	}
	made, err := plan.Decide(q)
	return plan.Answer(p.w.Now, made, err)
}

// snapshot returns a cluster whose nodes are free, busy for some minutes, or wanted by the job of another user.
func (p *planner) snapshot(partition string) cluster.Snapshot {
	has := job.Resources{CPUs: 8, Mem: 64, GPUs: 4, GPUType: "x"}
	part := cluster.Partition{Name: partition, Default: true}
	q := &cluster.Queue{User: "me", Grain: time.Minute}
	s := cluster.Snapshot{Driver: "batch", At: p.w.Now, Queue: q}
	busy := p.choose(3)
	for i := range 4 {
		n := cluster.Node{Name: fmt.Sprint("n", i), Capacity: has, Free: has}
		if busy > 0 && i >= 2*busy-2 {
			n.Free = job.Resources{}
			q.Running = append(q.Running, cluster.Queued{ID: n.Name, User: "a", Partition: partition, Nodes: []int{i}, Count: 1, PerNode: has, Start: p.w.Now, Limit: 10 * time.Minute})
		}
		s.Nodes, part.Nodes = append(s.Nodes, n), append(part.Nodes, i)
	}
	if p.choose(3) == 0 {
		q.Pending = append(q.Pending, cluster.Queued{ID: "w", User: "a", Partition: partition, Count: 4, PerNode: has, Limit: time.Hour})
	}
	q.Partitions = []cluster.Partition{part}
	return s
}

// profile returns what earlier runs of the job have measured.
func (p *planner) profile(spec *job.Spec, tasks int) *predict.Profile {
	var c predict.Collector
	took := time.Duration(1+p.choose(200)) * time.Second
	for range max(5, tasks) {
		for _, k := range []job.TaskKind{job.BagTask, job.MapTask, job.ReduceTask} {
			c.Add(k, []job.PhaseStat{{Phase: k.Phases()[0], End: job.Time(took)}})
		}
	}
	prof := &predict.Profile{App: predict.Application(spec)}
	prof.AddRun(predict.Size{Kind: spec.Kind, Tasks: max(5, tasks), Reduces: 1}, 0, c.Measures())
	return prof
}

// plannedHistory runs random jobs on allocations that package plan requests, which end, are given back and come back at any step.
func plannedHistory(t rapid.TB, choose func(n int) int, jobs, moves int) {
	w := newWorld(t, choose)
	p := planner{w: w, choose: choose, fail: t.Fatalf}
	w.Planner = p.answer
	for range jobs {
		w.Submit()
	}
	for range moves {
		w.Move()
		if choose(40) == 0 {
			w.Submit()
		}
	}
	w.Finish()
}

// TestPlansServe: in random histories with the plans that a coordinator makes, each plan serves the tasks for which it was requested, so that
// no job waits while nothing is there, requested, or about to be planned. Histories are short, and shrink when one fails.
func TestPlansServe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		plannedHistory(t, choose, rapid.IntRange(1, 3).Draw(t, "jobs"), rapid.IntRange(0, 100).Draw(t, "moves"))
	})
}

// TestPlansServeSeeds checks the same over longer histories, which do not shrink.
func TestPlansServeSeeds(t *testing.T) {
	n := seeds.Count(t, *someSeeds)
	for seed := *firstSeed; seed < *firstSeed+n; seed++ {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		t.Logf("seed %d", seed)
		plannedHistory(t, r.IntN, 1+r.IntN(4), r.IntN(1000))
	}
}
