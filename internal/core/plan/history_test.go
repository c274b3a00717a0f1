package plan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/starts"
)

// pastOf returns a history of jobs that used a part of their limits.
func pastOf(part func() float64) *starts.Past {
	h := &starts.History{Since: begin}
	for i := range 500 {
		limit := time.Duration(1+i%120) * time.Minute
		h.Ended = append(h.Ended, starts.Ended{Job: starts.Job{User: 1, Nodes: 1, Limit: limit}, At: begin, Run: time.Duration(part() * float64(limit))})
	}
	return starts.NewPast(h, begin)
}

// byHistory makes the requests of Decide with what is known of how long jobs run on the cluster of runEarly.
func byHistory(request job.Request) asker {
	ask := planned(request, true)
	rng := rand.New(rand.NewPCG(5, 6))
	past := pastOf(func() float64 { return 0.05 + 0.95*rng.Float64() })
	return func(w *world, now float64, left int, there []job.Live, measured *predict.Profile) ([]job.AllocRequest, int, float64) {
		known := *w
		known.q.Past = past
		return ask(&known, now, left, there, measured)
	}
}

// TestHistoryHelps: where jobs end before their limits, as a history says, the mean turnaround is shorter with it.
func TestHistoryHelps(t *testing.T) {
	const bags = 24
	for _, request := range []job.Request{{}, {MaxAllocs: 1}} {
		limits, history := 0.0, 0.0
		for i, w := range worlds(bags) {
			limits += w.runEarly(planned(request, true), uint64(i)) / bags
			history += w.runEarly(byHistory(request), uint64(i)) / bags
		}
		t.Logf("at most %d allocations: by limits %.0f s, by history %.0f s", request.MaxAllocs, limits, history)
		if history > limits {
			t.Errorf("at most %d allocations: by limits %.0f s on average, by history %.0f s", request.MaxAllocs, limits, history)
		}
	}
}

// TestHistoryOfLimits: where all jobs have used all of their limits and none waits, one request is as good by history as by limits.
// (Of several the further ones are found one by one, in another order, so that they may be better or worse.)
func TestHistoryOfLimits(t *testing.T) {
	past := pastOf(func() float64 { return 1 })
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if q.Spec.Request.WallTime == job.WallUpper { // it does not choose by what is expected
			q.Spec.Request.WallTime = job.WallMax
		}
		q.Snap.Queue.Pending, q.Spec.Request.MaxAllocs = nil, 1
		limits := decided(t, q)
		q.Past = past
		history := decided(t, q)
		if a, b := limits.Outlook.Turnaround, history.Outlook.Turnaround; math.Abs(a-b) > 0.03*a {
			t.Fatalf("by limits %v s (%v), by history %v s (%v); %+v", a, limits.Reasons, b, history.Reasons, q.Snap.Queue)
		}
		if s := history.Start; s != nil && (s.Low > s.Median || s.Median > s.High || s.Draws != numDraws || s.Jobs != 500) {
			t.Fatalf("start %+v", s)
		}
	})
}

// TestStartOfTheNodes: a request by limits begins when the nodes are free that it takes. Of three nodes with a core each the third is busy
// for six minutes more, and 29 tasks of 507 s may have 30 minutes: where one node is as good as the three of the slot that begins then,
// it is one that is free now.
func TestStartOfTheNodes(t *testing.T) {
	one := job.Resources{CPUs: 1, Mem: 8 << 30}
	queue := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, Nodes: []int{0, 1, 2}}},
		Running: []cluster.Queued{{ID: "1", User: "a", Partition: "main", Nodes: []int{2}, Count: 1, PerNode: one, Start: begin.Add(-time.Hour),
			Limit: 66 * time.Minute}}}
	q := Question{Now: begin, Counts: Counts{Tasks: 29}, Snap: cluster.Snapshot{Driver: "slurm", At: begin, Queue: queue, Nodes: []cluster.Node{
		{Name: "n0", Capacity: one, Free: one}, {Name: "n1", Capacity: one, Free: one}, {Name: "n2", Capacity: one}}}}
	q.Spec = &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}},
		Request: job.Request{MaxAllocs: 1, MaxTime: 30 * time.Minute, WallTime: job.WallAuto}}
	q.Profile = profileOf(q.Spec, 507)
	p, err := Decide(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Requests() {
		if r.Nodes < 3 && r.Start != begin {
			t.Errorf("%d nodes after %v, though two are free", r.Nodes, r.Start.Sub(begin))
		}
	}
}

// TestHistoryKeepsBounds: requests by history are within the bounds of user and partition, all of them together, whenever they begin.
func TestHistoryKeepsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	past := pastOf(rng.Float64)
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		q.Past = past
		p := decided(t, q)
		r, part, sum := &q.Spec.Request, &q.Snap.Queue.Partitions[0], 0
		for _, a := range p.Requests() {
			sum += a.Nodes
			if a.Nodes < max(1, r.MinNodes) || part.MaxNodes > 0 && a.Nodes > part.MaxNodes || a.Nodes > len(part.Nodes) {
				t.Fatalf("%d nodes", a.Nodes)
			}
			if limit := part.MaxTime; limit > 0 && (a.Time == 0 || a.Time > limit) || r.MaxTime > 0 && (a.Time == 0 || a.Time > r.MaxTime) {
				t.Fatalf("for %v", a.Time)
			}
		}
		if n := len(p.Requests()); n > mostApart || r.MaxAllocs > 0 && n > r.MaxAllocs {
			t.Fatalf("%d requests", n)
		}
		if r.MaxNodes > 0 && sum > r.MaxNodes {
			t.Fatalf("%d nodes in all requests, at most %d are allowed", sum, r.MaxNodes)
		}
		if o := p.Outlook; math.IsNaN(o.Wait) || o.Wait < 0 || o.Turnaround < 0 {
			t.Fatalf("%+v", o.Expectation)
		}
	})
}

// TestStartsTogether: several requests begin when they do if all of them are made, in the order of the plan.
func TestStartsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	past := pastOf(rng.Float64)
	several := 0
	for i, w := range worlds(6) {
		q := w.q
		q.Snap, q.Past = w.snap, past
		q.Snap.Queue.Depth = 4 * (i % 2)
		several += compareTogether(t, &q)
	}
	if several < 3 {
		t.Errorf("only %d plans have several requests", several)
	}
}

// compareTogether compares the starts of a plan with those of its requests behind the queue. It returns 1 if there are several.
func compareTogether(t *testing.T, q *Question) int {
	p, err := Decide(*q)
	if err != nil {
		t.Fatal(err)
	}
	all := p.Requests()
	if len(all) < 2 {
		return 0
	}
	queue, why := q.Snap.Moving(cluster.View{Partition: "main", PerNode: all[0].PerNode})
	if queue == nil {
		t.Fatal(why)
	}
	queue.Now, queue.Own = q.Now, len(all)
	for _, r := range all {
		queue.Waiting = append(queue.Waiting, starts.Job{User: cluster.Number(q.Snap.Queue.User), Nodes: int32(r.Nodes), Limit: r.Time})
	}
	draws := q.Past.Draw(queue, numDraws, seedOf(q.Spec.Name))
	for i, r := range all {
		want := draws.Waiting(len(queue.Waiting) - len(all) + i).Mean()
		if got := r.Start.Sub(q.Now); (got - want).Abs() > time.Microsecond {
			t.Errorf("request %d begins after %v, together with the others after %v: %+v", i, got, want, all)
		}
	}
	return 1
}

// TestHistoryInThePlan: a job on all nodes, of a user whose jobs end after a tenth of their limits, keeps a request for as
// long as that, and the plan says so with a band; what the batch system says by limits changes nothing then. Where jobs share
// nodes the limits count, and a note says why.
func TestHistoryInThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	past := pastOf(func() float64 { return 0.08 + 0.04*rng.Float64() })
	w := worlds(1)[0]
	q := w.q
	queue := q.Snap.Queue
	queue.Pending, queue.Running = nil, []cluster.Queued{{ID: "1", User: "a", Partition: "main", Nodes: queue.Partitions[0].Nodes, Count: 16,
		PerNode: job.Resources{CPUs: 4}, Start: begin, Limit: 100 * time.Minute}}
	for i := range q.Snap.Nodes {
		q.Snap.Nodes[i].Free = job.Resources{}
	}
	limits, err := Decide(q)
	if err != nil || limits.Start != nil || limits.Outlook.Wait != 6000 {
		t.Fatalf("by limits: %v, start %+v, wait %v s", err, limits.Start, limits.Outlook.Wait)
	}
	q.Past = past
	p, err := Decide(q)
	if err != nil || p.Start == nil {
		t.Fatalf("by history: %v, %+v", err, p)
	}
	if s := p.Start; s.Low < 480 || s.Low > s.Median || s.Median > s.High || s.High > 720 {
		t.Errorf("start %+v, want it within 480 and 720 s", s)
	}
	if p.Doubt(begin.Add(100*time.Minute)) || p.Alloc.Latest != 0 {
		t.Errorf("the start of a limit is in doubt, or the request is given back at %d", p.Alloc.Latest)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"start":{"median":`) {
		t.Errorf("%s %v", text, err)
	}
	queue.Running[0].PerNode = job.Resources{CPUs: 1}
	p, err = Decide(q)
	if err != nil || p.Start != nil || !strings.Contains(strings.Join(p.Notes, "; "), "share nodes") {
		t.Errorf("shared nodes: %v, start %+v, notes %q", err, p.Start, p.Notes)
	}
}

// TestBandOfOwnStarts: where the user's own last starts came three times as late as the draws said, the plan's band holds such a
// start, and it says from how many; the band by the draws is kept beside it. Where the nodes are free, and with too few starts, no
// band is moved.
func TestBandOfOwnStarts(t *testing.T) {
	w := worlds(1)[0]
	q, h := w.q, &starts.History{Since: begin}
	queue := q.Snap.Queue
	queue.Pending, queue.Running = nil, []cluster.Queued{{ID: "1", User: "a", Partition: "main", Nodes: queue.Partitions[0].Nodes, Count: 16,
		PerNode: job.Resources{CPUs: 4}, Start: begin, Limit: 100 * time.Minute}}
	for i := range q.Snap.Nodes {
		q.Snap.Nodes[i].Free = job.Resources{}
	}
	for i := range 40 {
		h.Ended = append(h.Ended, starts.Ended{Job: starts.Job{User: 1, Nodes: 1, Limit: time.Hour}, At: begin, Run: time.Duration(6+i%3) * time.Minute})
	}
	start := func() *Start {
		q.Past = starts.NewPast(h, begin)
		p, err := Decide(q)
		if err != nil || p.Start == nil {
			t.Fatalf("%v, %+v", err, p.Start)
		}
		return p.Start
	}
	first := start()
	if first.Starts != 0 || first.Low != first.RawLow || first.High != first.RawHigh || first.RawHigh == 0 {
		t.Fatalf("without starts: %+v", first)
	}
	if _, ok := (&Start{}).Came(time.Minute); ok {
		t.Error("a start on free nodes counts")
	}
	wait := time.Duration(3 * first.Median * float64(time.Second))
	for n := range 30 {
		if s := start(); n < 20 && s.Starts != 0 || n >= 20 && s.Starts != n {
			t.Fatalf("after %d starts: %+v", n, s)
		}
		c, ok := first.Came(wait)
		if !ok {
			t.Fatal("a start does not count")
		}
		h.Start(c)
	}
	if s := start(); s.RawLow != first.RawLow || s.RawHigh != first.RawHigh || s.High < wait.Seconds()*0.999 || s.RawHigh > wait.Seconds() {
		t.Errorf("after 30 starts of %v: %+v", wait, s)
	}
	queue.Running = nil
	for i := range q.Snap.Nodes {
		q.Snap.Nodes[i].Free = q.Snap.Nodes[i].Capacity
	}
	if s := start(); s.High != 0 || s.Starts != 0 {
		t.Errorf("on free nodes: %+v", s)
	}
}
