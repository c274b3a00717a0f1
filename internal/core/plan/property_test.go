package plan

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

// genQueue draws a cluster of up to 8 nodes with jobs that run and wait.
func genQueue(t *rapid.T) cluster.Snapshot {
	has := job.Resources{CPUs: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "cores"), Mem: 8 << 30}
	q := &cluster.Queue{User: "me", Grain: time.Minute}
	snap := cluster.Snapshot{Driver: "slurm", At: begin, Queue: q}
	part := cluster.Partition{Name: "main", Default: true, MaxTime: time.Duration(rapid.SampledFrom([]int{0, 60, 600}).Draw(t, "max time")) * time.Minute,
		MaxNodes: rapid.SampledFrom([]int{0, 3}).Draw(t, "partition's max nodes")}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		part.Nodes = append(part.Nodes, i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Capacity: has, Free: has})
		if limit := rapid.IntRange(-60, 120).Draw(t, "minutes left"); limit > 0 {
			q.Running = append(q.Running, cluster.Queued{ID: fmt.Sprint("r", i), User: "a", Partition: "main", Nodes: []int{i}, Count: 1, PerNode: has,
				Start: begin.Add(-time.Hour), Limit: time.Hour + time.Duration(limit)*time.Minute})
			snap.Nodes[i].Free = job.Resources{}
		}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "pending") {
		q.Pending = append(q.Pending, cluster.Queued{ID: fmt.Sprint("p", i), User: "b", Partition: "main", PerNode: has,
			Count: rapid.IntRange(1, len(part.Nodes)).Draw(t, "of nodes"), Limit: time.Duration(rapid.IntRange(1, 120).Draw(t, "for minutes")) * time.Minute})
	}
	q.Partitions = []cluster.Partition{part}
	return snap
}

// genQuestion draws a bag or a MapReduce job, and what is known of it.
func genQuestion(t *rapid.T) Question {
	q := Question{Now: begin, Snap: genQueue(t), Counts: Counts{Tasks: rapid.IntRange(1, 120).Draw(t, "tasks")}}
	q.Spec = &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}}}
	q.Profile = profileOf(q.Spec, rapid.IntRange(1, 600).Draw(t, "seconds a task"))
	r := &q.Spec.Request
	r.MaxAllocs = rapid.IntRange(0, 3).Draw(t, "allocs")
	r.Courtesy = rapid.SampledFrom([]float64{0, 0, 2, 10}).Draw(t, "courtesy")
	r.WallTime = rapid.SampledFrom([]string{job.WallAuto, job.WallAuto, job.WallUpper, job.WallMax}).Draw(t, "wall time")
	r.MaxNodes = rapid.SampledFrom([]int{0, 0, 1, 2, 5}).Draw(t, "max nodes")
	if r.MaxNodes > 0 {
		r.MinNodes = rapid.IntRange(0, min(r.MaxNodes, 3)).Draw(t, "min nodes")
	}
	r.MaxTime = time.Duration(rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "max time")) * time.Minute
	return q
}

// profileOf returns a profile of a bag's application whose tasks take about so many seconds.
func profileOf(spec *job.Spec, took int) *predict.Profile {
	size := predict.Size{Kind: job.Bag, Tasks: 50}
	var c predict.Collector
	for i := range size.Tasks {
		c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Duration(took*(10+i%7)) * time.Second / 10)}})
	}
	p := &predict.Profile{App: predict.Application(spec)}
	for range 20 { // so that a few runs show what many do
		p.AddRun(size, 0, c.Measures())
	}
	return p
}

// decided decides, or skips a question that has no answer for a reason of the user's.
func decided(t *rapid.T, q Question) Plan {
	p, err := Decide(q)
	if job.ClassOf(err) == job.User && err != nil {
		t.Skip(err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRequestsKeepAllBounds: requests are within the bounds of user and partition, and together they fit under the
// timeline.
func TestRequestsKeepAllBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "unknown") {
			q.Profile = nil
		} else {
			q.Profile.Slow = genSpells(t, 200)
		}
		r, part := &q.Spec.Request, &q.Snap.Queue.Partitions[0]
		part.MinCPUs = rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "min cores")
		part.MinTime = time.Duration(rapid.SampledFrom([]int{0, 0, 25}).Draw(t, "min minutes")) * time.Minute
		part.Bounds[cluster.UserCPUs] = rapid.SampledFrom([]int64{0, 0, 4}).Draw(t, "the user's cores")
		p := decided(t, q)
		line := timeline.New(begin, p.Outlook.Timeline[0].Free)
		for i, s := range p.Outlook.Timeline[1:] {
			line.Add(s.Start, timeline.Never, s.Free-p.Outlook.Timeline[i].Free)
		}
		allowed := r.MaxAllocs
		if allowed == 0 {
			allowed = defaultAllocs
		}
		if r.MaxAllocs == 0 && r.WallTime == job.WallUpper {
			allowed = 1
		}
		asked := p.Requests()
		for _, r := range asked {
			if r.Latest != 0 && r.Latest < r.Start {
				t.Fatalf("it is to begin at %v and by %v", r.Start, r.Latest)
			}
		}
		if len(asked) == 0 || len(asked) > allowed {
			t.Fatalf("%d requests, %d allowed", len(asked), allowed)
		}
		for i, a := range asked {
			if a.Nodes < max(1, r.MinNodes) || r.MaxNodes > 0 && a.Nodes > r.MaxNodes || part.MaxNodes > 0 && a.Nodes > part.MaxNodes {
				t.Fatalf("%d nodes: %+v, %+v", a.Nodes, r, part)
			}
			for _, limit := range []time.Duration{r.MaxTime, part.MaxTime} {
				if limit > 0 && (a.Time > limit || a.Time == 0) {
					t.Fatalf("%v is longer than %v", a.Time, limit)
				}
			}
			if most := part.Bounds[cluster.UserCPUs]; a.Time > 0 && a.Time < part.MinTime || a.Nodes*a.PerNode.CPUs < part.MinCPUs || most > 0 && a.Nodes*a.PerNode.CPUs > int(most) {
				t.Fatalf("%+v is not within %+v", a, part)
			}
			if a.Time%time.Minute != 0 {
				t.Fatalf("%v is no whole number of minutes", a.Time)
			}
			if i > 0 && a.Start < asked[i-1].Start {
				t.Fatalf("not in order: %+v", asked)
			}
			if a.Start == 0 {
				continue // nothing is free in sight
			}
			end := timeline.Never
			if a.Time > 0 {
				end = a.Start.Add(a.Time)
			}
			if line.Min(a.Start, end) < a.Nodes {
				t.Fatalf("%+v does not fit under %+v", asked, p.Outlook.Timeline)
			}
			line.Add(a.Start, end, -a.Nodes)
		}
	})
}

// TestTheChosenIsNoWorse: no compared candidate is sooner than the chosen one by more than the tolerances for fewer
// nodes and less time; further allocations shorten the turnaround.
func TestTheChosenIsNoWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := decided(t, genQuestion(t))
		if math.IsInf(p.Outlook.Slots[len(p.Outlook.Slots)-1].Wait, 1) {
			t.Skip("nothing is free in sight")
		}
		chosen, least := math.Inf(1), math.Inf(1)
		for _, c := range p.Outlook.Slots {
			if c.Chosen {
				chosen = c.Total
			}
			if c.Total > 0 {
				least = min(least, c.Total)
			}
		}
		if bound := least * (1 + closeBy) * (1 + tightBy); chosen > bound+1e-6 {
			t.Fatalf("%g s, but %g is to be had: %+v", chosen, least, p.Outlook.Slots)
		}
	})
}

// TestPlansAreSteady: the same question has the same answer.
func TestPlansAreSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if a, b := decided(t, q), decided(t, q); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v, then %+v", a, b)
		}
	})
}

// chosenOf returns the option that a plan chose.
func chosenOf(p Plan) Candidate {
	for _, c := range p.Outlook.Slots {
		if c.Chosen {
			return c
		}
	}
	return Candidate{}
}

// TestMoreIsNoLater: with a further node, with a higher bound and with a free choice of the time a job is not done
// later than by the one request that suffices with less, apart from the tolerances for fewer nodes and less time.
func TestMoreIsNoLater(t *testing.T) {
	for name, change := range map[string]func(t *rapid.T, less, more *Question){
		"a free node": func(_ *rapid.T, _, more *Question) {
			n := more.Snap.Nodes[0]
			n.Name, n.Free = "new", n.Capacity
			more.Snap.Nodes = append(more.Snap.Nodes[:len(more.Snap.Nodes):len(more.Snap.Nodes)], n)
			queue := *more.Snap.Queue
			part := queue.Partitions[0]
			part.Nodes = append(part.Nodes[:len(part.Nodes):len(part.Nodes)], len(more.Snap.Nodes)-1)
			queue.Partitions, queue.Pending = []cluster.Partition{part}, nil
			more.Snap.Queue = &queue
		},
		"more nodes allowed": func(t *rapid.T, less, more *Question) {
			less.Spec.Request.MaxNodes = rapid.IntRange(1, 4).Draw(t, "less")
			more.Spec.Request.MaxNodes = less.Spec.Request.MaxNodes + rapid.IntRange(1, 4).Draw(t, "more")
		},
		"a free choice of time": func(_ *rapid.T, less, more *Question) {
			less.Spec.Request.WallTime, more.Spec.Request.WallTime = job.WallMax, job.WallAuto
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				less := genQuestion(t)
				less.Spec.Request = job.Request{MaxAllocs: 1}
				more, spec := less, *less.Spec
				more.Spec = &spec
				change(t, &less, &more)
				a, b := chosenOf(decided(t, less)), chosenOf(decided(t, more))
				if bound := a.Total * (1 + closeBy) * (1 + tightBy); a.Total > 0 && a.Risk == 0 && b.Total > bound+1e-6 {
					t.Fatalf("%+v, was %+v", b, a)
				}
			})
		})
	}
}

// TestPlansOfTheRest: a plan of the rest states the size of the whole job as well as what is left of it, so that the
// next plan of the same job can be made from it. It equals the plan by the job's own size.
func TestPlansOfTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		first := rapid.IntRange(0, q.Counts.Tasks).Draw(t, "left at first")
		then := rapid.IntRange(0, first).Draw(t, "left then")
		q.Remaining = &job.Remaining{Tasks: first}
		p := decided(t, q)
		if p.Tasks != q.Counts.Tasks || p.Left == nil || *p.Left != (Left{Tasks: first}) {
			t.Fatalf("%d of %d tasks are left, the plan is of %d, %+v left", first, q.Counts.Tasks, p.Tasks, p.Left)
		}
		q.Remaining = &job.Remaining{Tasks: then}
		again := q
		again.Counts.Tasks = p.Tasks
		if a, b := decided(t, q), decided(t, again); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v by the job's size, %+v by the plan before", a, b)
		}
	})
}

// TestPredictionsAgree: the numbers of one prediction do not contradict each other. The median and the 95th
// percentile of the run time lie within its bounds, and the mean turnaround lies within the bounds of the turnaround,
// which are those of the run time after the predicted start.
func TestPredictionsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "few runs") {
			q.Profile.Runs = 1
		}
		if rapid.Bool().Draw(t, "one machine") {
			q.Snap.Queue, q.Snap.Nodes = nil, q.Snap.Nodes[:1]
			q.Spec.Request = job.Request{}
		}
		if rapid.Bool().Draw(t, "begun") {
			q.Remaining = &job.Remaining{Tasks: rapid.IntRange(1, q.Counts.Tasks).Draw(t, "left")}
		}
		p := decided(t, q)
		r := p.Predicted
		if r == nil {
			t.Skip("nothing is predicted")
		}
		if !(r.Low <= r.Median && r.Median <= r.P95 && r.P95 <= r.Up) {
			t.Fatalf("run time: bounds %g and %g, half within %g, 95 of 100 within %g", r.Low, r.Up, r.Median, r.P95)
		}
		if q.Snap.Queue == nil {
			return
		}
		all, o := p.Turnaround(), p.Outlook
		const rounded = 2e-6 // the parts of a sum are rounded to microseconds, and so is the mean
		if !(all.Low <= o.Turnaround+rounded && o.Turnaround <= all.Up+rounded) || o.Start < o.Wait || o.Turnaround < o.Start {
			t.Fatalf("turnaround: bounds %g and %g, mean %g, allocation after %g, first task after %g", all.Low, all.Up, o.Turnaround, o.Wait, o.Start)
		}
	})
}

// TestCriticalPath: a job is not expected to be done before its tasks are that come one after the other, the requests do not depend on that, and the
// prediction is none other where that takes no time.
func TestCriticalPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		before := decided(t, q)
		q.Counts.Path = rapid.IntRange(1, q.Counts.Tasks).Draw(t, "in a row")
		p := decided(t, q)
		if !slices.EqualFunc(p.Requests(), before.Requests(), func(a, b job.AllocRequest) bool { return a.Nodes == b.Nodes && a.Time == b.Time }) {
			t.Fatalf("%v is requested, and %v if nothing comes after another", p.Requests(), before.Requests())
		}
		if p.Predicted == nil {
			t.Skip("nothing is predicted")
		}
		inv, _ := q.Profile.Invariants(predict.Size{Kind: job.Bag, Tasks: q.Counts.Tasks})
		row := float64(q.Counts.Path) * inv.Map.Avg
		if got, was := p.Outlook.Turnaround, before.Outlook.Turnaround; got < was-1e-5 || q.Counts.Path > 1 && got < (p.Outlook.Start+row)*0.99 || q.Counts.Path == 1 && got != was {
			t.Fatalf("done after %g s, after %g s if nothing comes after another, and %d tasks in a row take %g s", got, was, q.Counts.Path, row)
		}
	})
}
