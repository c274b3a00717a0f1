package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// oneByOne returns a question on a cluster whose nodes each have a job of another user, which will end nobody knows when.
func oneByOne() Question {
	w := worlds(1)[0]
	q := w.q
	queue := q.Snap.Queue
	queue.Pending, queue.Running = nil, nil
	for i := range q.Snap.Nodes {
		q.Snap.Nodes[i].Free = job.Resources{}
		queue.Running = append(queue.Running, cluster.Queued{ID: fmt.Sprint(i), User: "a", Partition: "main", Nodes: []int{i}, Count: 1,
			PerNode: job.Resources{CPUs: 4}, Start: begin, Limit: 100 * time.Minute})
	}
	rng := rand.New(rand.NewPCG(13, 14))
	q.Past = pastOf(rng.Float64)
	return q
}

// TestApart: where nodes become free one by one, at times that differ from draw to draw, a job asks for them in several requests, more than
// are made at once otherwise; but no more than mostApart, than the user allows, and for no fewer nodes each than the user wants.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		ask                 job.Request
		least, most, ofNode int
	}{{job.Request{}, defaultAllocs + 1, mostApart, 1}, {job.Request{MaxAllocs: 2}, 2, 2, 1}, {job.Request{MaxAllocs: 1}, 1, 1, 1},
		{job.Request{MinNodes: 2, MaxNodes: 8}, 2, 4, 2}} {
		q := oneByOne()
		spec := *q.Spec
		spec.Request.MaxAllocs, spec.Request.MinNodes, spec.Request.MaxNodes = c.ask.MaxAllocs, c.ask.MinNodes, c.ask.MaxNodes
		q.Spec = &spec
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		all, nodes := p.Requests(), 0
		for _, r := range all {
			if nodes += r.Nodes; r.Nodes < c.ofNode {
				t.Errorf("%+v: a request of %d nodes", c.ask, r.Nodes)
			}
		}
		if len(all) < c.least || len(all) > c.most || c.ask.MaxNodes > 0 && nodes > c.ask.MaxNodes {
			t.Errorf("%+v: %d requests of %d nodes in all, want %d to %d", c.ask, len(all), nodes, c.least, c.most)
		}
	}
}
