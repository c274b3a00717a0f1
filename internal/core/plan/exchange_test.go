package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
)

// waitingBag returns the question of a bag of 64 tasks of ten minutes whose request for eight nodes of a core each, and three hours,
// waits for a job with five nodes that may run for five hours more. free nodes are free.
func waitingBag(free int, request job.Request, past *starts.Past) Question {
	one := job.Resources{CPUs: 1, Mem: 8 << 30}
	queue := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true}}}
	q := Question{Now: begin, Counts: Counts{Tasks: 64}, Snap: cluster.Snapshot{Driver: "slurm", At: begin, Queue: queue}, Past: past}
	other := cluster.Queued{ID: "1", User: "a", Partition: "main", PerNode: one, Whole: true, Start: begin.Add(-time.Hour), Limit: 6 * time.Hour}
	for i := range 8 {
		node := cluster.Node{Name: fmt.Sprint("n", i), Capacity: one, Free: one}
		if i >= free {
			node.Free = job.Resources{}
			other.Nodes = append(other.Nodes, i)
		}
		q.Snap.Nodes, queue.Partitions[0].Nodes = append(q.Snap.Nodes, node), append(queue.Partitions[0].Nodes, i)
	}
	other.Count = len(other.Nodes)
	queue.Running = []cluster.Queued{other}
	q.Spec = &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}}, Request: request}
	q.Profile = profileOf(q.Spec, 600)
	r := job.AllocRequest{On: "slurm", Nodes: 8, PerNode: one, Time: 3 * time.Hour, Elastic: true, Batch: request.Batch("main")}
	q.Remaining = &job.Remaining{Tasks: 64, Live: []job.Live{{ID: "a1", Request: r}}}
	queue.Pending = []cluster.Queued{{ID: "2", User: "me", Partition: "main", Count: 8, PerNode: one, Whole: true, Limit: r.Time, Alloc: "a1"}}
	return q
}

// TestSooner: a request for all nodes waits for hours behind a job that has some of them. When enough nodes are free now, others pay in its
// place, by limits and by history; when the user has said how many nodes it is to have, or that job ends soon, or no node is free, it stays.
func TestSooner(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	full, short := pastOf(func() float64 { return 0.9 + 0.1*rng.Float64() }), pastOf(func() float64 { return 0.17 + 0.001*rng.Float64() })
	for name, c := range map[string]struct {
		free int
		job.Request
		past *starts.Past
		pays bool
	}{
		"four nodes are free, by limits":           {4, job.Request{}, nil, false},
		"four nodes are free, by history":          {4, job.Request{}, full, true},
		"by history the other job is nearly done":  {4, job.Request{}, short, false},
		"no node is free":                          {0, job.Request{}, full, false},
		"the user has said how many nodes":         {4, job.Request{MinNodes: 8, MaxNodes: 8}, full, false},
		"the user has said how many, by limits":    {4, job.Request{MinNodes: 8, MaxNodes: 8}, nil, false},
		"the user has said how long and how many":  {4, job.Request{MinNodes: 8, MaxNodes: 8, MaxTime: 3 * time.Hour, WallTime: job.WallMax}, full, false},
		"the user allows one node, which is free":  {4, job.Request{MaxNodes: 1}, full, false},
		"the user allows the four nodes at most":   {4, job.Request{MaxNodes: 4}, full, true},
		"the user allows half an hour at a time":   {4, job.Request{MaxTime: 30 * time.Minute}, full, true},
		"the user wants four nodes that are there": {4, job.Request{MinNodes: 4, MaxNodes: 4}, full, true},
	} {
		q := waitingBag(c.free, c.Request, c.past)
		p, why, err := Sooner(q, []job.AllocID{"a1"})
		if err != nil || (why != "") != c.pays {
			t.Errorf("%s: %q, %v: %v", name, why, err, p.Reasons)
		}
		for _, r := range p.Requests() {
			if m := c.MaxNodes; m > 0 && r.Nodes > m || r.Nodes < c.MinNodes || c.MaxTime > 0 && r.Time > c.MaxTime {
				t.Errorf("%s: %d nodes for %v", name, r.Nodes, r.Time)
			}
		}
	}
	q := waitingBag(4, job.Request{}, full)
	q.Profile = nil
	if _, why, err := Sooner(q, []job.AllocID{"a1"}); err != nil || why != "" {
		t.Errorf("a job of unknown tasks: %q, %v", why, err)
	}
}

// TestSoonerKeepsPlaces: where the batch system reserves nodes for several waiting jobs, and others wait, a request that waits is not given
// up for another one that would pay if nodes were reserved for one job only, or if nobody else waited.
func TestSoonerKeepsPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	past := pastOf(func() float64 { return 0.9 + 0.1*rng.Float64() })
	for _, c := range []struct {
		depth, others int
		pays          bool
	}{{0, 1, true}, {1, 1, true}, {-1, 1, true}, {100, 0, true}, {2, 1, false}, {100, 1, false}} {
		q := waitingBag(4, job.Request{}, past)
		q.Snap.Queue.Depth = c.depth
		for i := range c.others {
			other := cluster.Queued{ID: fmt.Sprint(3 + i), User: "b", Partition: "main", Count: 8, PerNode: q.Snap.Nodes[0].Capacity, Whole: true, Limit: time.Hour}
			q.Snap.Queue.Pending = append(q.Snap.Queue.Pending, other)
		}
		if _, why, err := Sooner(q, []job.AllocID{"a1"}); err != nil || (why != "") != c.pays {
			t.Errorf("%+v: %q, %v", c, why, err)
		}
	}
}

// TestSoonerKeepsBounds: in any queue, what is requested in place of a waiting request is within the user's bounds and is not the same. The
// question is not changed.
func TestSoonerKeepsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	past := pastOf(rng.Float64)
	questions := rapid.Custom(genQuestion)
	pays := 0
	for seed := range 40 {
		q := questions.Example(seed)
		q.Spec.Request.Courtesy, q.Counts.Tasks = 0, min(q.Counts.Tasks, 40)
		if seed%2 == 0 {
			q.Past = past
		}
		first, err := Decide(q)
		if err != nil {
			continue // no partition allows what the user wants
		}
		withWaiting(&q, first.Requests()[0])
		p, why, err := Sooner(q, []job.AllocID{"a1"})
		if err != nil {
			t.Fatal(err)
		}
		if queue := q.Snap.Queue; len(q.Remaining.Live) != 1 || queue.Pending[len(queue.Pending)-1].Leaves {
			t.Fatal("the question was changed")
		}
		if why != "" {
			pays++
			checkBounds(t, &q, &p)
		}
	}
	t.Logf("%d exchanges pay", pays)
}

// withWaiting adds a request to a question that waits behind all others.
func withWaiting(q *Question, r job.AllocRequest) {
	queue := *q.Snap.Queue
	queue.Pending = append(slices.Clone(queue.Pending), cluster.Queued{ID: "mine", User: "me", Partition: queue.Partitions[0].Name,
		Count: r.Nodes, PerNode: r.PerNode, Whole: true, Limit: r.Time, Alloc: "a1"})
	q.Snap.Queue = &queue
	q.Remaining = &job.Remaining{Tasks: q.Counts.Tasks, Live: []job.Live{{ID: "a1", Request: r}}}
}

func checkBounds(t *testing.T, q *Question, p *Plan) {
	r, sum := &q.Spec.Request, 0
	for _, a := range p.Requests() {
		sum += a.Nodes
		if a.Nodes < r.MinNodes || r.MaxNodes > 0 && a.Nodes > r.MaxNodes || r.MaxTime > 0 && (a.Time == 0 || a.Time > r.MaxTime) {
			t.Fatalf("%d nodes for %v", a.Nodes, a.Time)
		}
	}
	if sum == 0 || q.Past != nil && r.MaxNodes > 0 && sum > r.MaxNodes || alike(p.Requests(), q.Remaining.Live) {
		t.Fatalf("%+v", p.Requests())
	}
}
