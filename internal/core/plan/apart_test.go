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
// are made at once otherwise; but no more than mostApart, than the user allows, and for no fewer nodes each than the user wants, or a gang needs.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		ask                 job.Request
		ranks               int
		least, most, ofNode int
	}{{job.Request{}, 0, defaultAllocs + 1, mostApart, 1}, {job.Request{MaxAllocs: 2}, 0, 2, 2, 1}, {job.Request{MaxAllocs: 1}, 0, 1, 1, 1},
		{job.Request{MinNodes: 2, MaxNodes: 8}, 0, 2, 4, 2}, {job.Request{}, 8, defaultAllocs + 1, mostApart, 2}, {job.Request{MaxNodes: 8}, 10, 1, 2, 3}} {
		q := oneByOne()
		spec := *q.Spec
		spec.Request.MaxAllocs, spec.Request.MinNodes, spec.Request.MaxNodes = c.ask.MaxAllocs, c.ask.MinNodes, c.ask.MaxNodes
		bag := *q.Spec.Bag
		bag.Ranks, spec.Bag, q.Spec = c.ranks, &bag, &spec
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		all, nodes := p.Requests(), 0
		for _, r := range all {
			if nodes += r.Nodes; r.Nodes < c.ofNode || c.ranks > 0 && r.Nodes*r.PerNode.CPUs%c.ranks >= r.PerNode.CPUs {
				t.Errorf("%+v: a request of %d nodes of %d cores", c.ask, r.Nodes, r.PerNode.CPUs)
			}
		}
		if len(all) < c.least || len(all) > c.most || c.ask.MaxNodes > 0 && nodes > c.ask.MaxNodes {
			t.Errorf("%+v: %d requests of %d nodes in all, want %d to %d", c.ask, len(all), nodes, c.least, c.most)
		}
	}
}

// TestElsewhere: where nodes of several partitions become free one by one, a job that may run in any of them asks in several, each time for nodes
// that hold a gang, and no more of them than run it. Of a list each request goes to the best.
func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		anywhere        bool
		ranks, maxNodes int
		in, ofNode      int // partitions at least, nodes of a request at least
	}{{true, 0, 0, 3, 1}, {true, 8, 0, 3, 2}, {true, 10, 9, 2, 3}, {false, 0, 0, 1, 1}} {
		q := oneByOne()
		queue, spec, bag := q.Snap.Queue, *q.Spec, *q.Spec.Bag
		main := queue.Partitions[0]
		queue.Partitions = nil
		for i, name := range []string{"main", "b", "c"} {
			p, n := main, len(main.Nodes)/3
			p.Name, p.Default, p.Nodes = name, i == 0, main.Nodes[i*n:(i+1)*n]
			queue.Partitions = append(queue.Partitions, p)
			for _, k := range p.Nodes {
				queue.Running[k].Partition = name
			}
		}
		bag.Ranks, spec.Bag, spec.Request.MaxNodes = c.ranks, &bag, c.maxNodes
		spec.Request.Partition, spec.Request.Anywhere = "main,b,c", c.anywhere
		q.Spec = &spec
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		in, nodes := map[string]bool{}, 0
		for _, r := range p.Requests() {
			in[r.Batch.Partition] = true
			if nodes += r.Nodes; r.Nodes < c.ofNode || c.ranks > 0 && r.Nodes*r.PerNode.CPUs%c.ranks >= r.PerNode.CPUs {
				t.Errorf("%+v: a request of %d nodes of %d cores", c, r.Nodes, r.PerNode.CPUs)
			}
		}
		if len(in) < c.in || !c.anywhere && len(in) > c.in || len(p.Requests()) > mostApart || c.maxNodes > 0 && nodes > c.maxNodes {
			t.Errorf("%+v: %d requests in %v, of %d nodes", c, len(p.Requests()), in, nodes)
		}
	}
}
