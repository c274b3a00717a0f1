package plan

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// courtesyQuestion is a bag on four nodes that a job of the user has for an hour, and behind it another job of that user. The free slot
// for the bag begins after both and has no end but the partition's longest wall time.
func courtesyQuestion(user string, planned job.Time) Question {
	q := bagOf(64, 20, rand.New(rand.NewPCG(1, 1)))
	q.Snap = idle(4)
	for i := range q.Snap.Nodes {
		q.Snap.Nodes[i].Free = job.Resources{}
	}
	each := q.Snap.Nodes[0].Capacity
	queue := q.Snap.Queue
	queue.Running = []cluster.Queued{{ID: "1", User: user, Partition: "main", Nodes: []int{0, 1, 2, 3}, Count: 4, PerNode: each, Start: begin, Limit: time.Hour}}
	queue.Pending = []cluster.Queued{{ID: "2", User: user, Partition: "main", Count: 4, PerNode: each, Start: planned, Limit: time.Hour}}
	return q
}

// TestCourtesy: beside jobs of somebody else for which the batch system keeps places a request asks for 1 + X times its wall time, up to
// the longest allowed, begins no later for that, and is given back with its job. Nothing else changes, and nothing at all where nobody
// else has a job or a place is not known.
func TestCourtesy(t *testing.T) {
	later := begin.Add(time.Hour)
	for _, c := range []struct {
		name     string
		user     string
		planned  job.Time
		courtesy float64
		times    float64
	}{
		{"none", "other", later, 0, 1},
		{"twice", "other", later, 1, 2},
		{"three times", "other", later, 2, 3},
		{"my own job waits", "me", later, 2, 1},
		{"nobody else", "me", later, 2, 1},
		{"no place is kept", "other", 0, 2, 1},
	} {
		q := courtesyQuestion(c.user, c.planned)
		plain, err := Decide(q)
		if err != nil {
			t.Fatal(c.name, err)
		}
		q.Spec.Request.Courtesy = c.courtesy
		p, err := Decide(q)
		if err != nil {
			t.Fatal(c.name, err)
		}
		want := plain.Alloc
		want.Time, want.Courteous = time.Duration(float64(want.Time)*c.times), c.times > 1
		if !reflect.DeepEqual(p.Alloc, want) || len(p.More) != len(plain.More) {
			t.Errorf("%s: requests %+v, want %+v", c.name, p.Alloc, want)
		}
		if p.Turnaround().Up > plain.Turnaround().Up || p.Outlook.Wait != plain.Outlook.Wait {
			t.Errorf("%s: ends after %+v and waits %v, want %+v and %v", c.name, p.Turnaround(), p.Outlook.Wait, plain.Turnaround(), plain.Outlook.Wait)
		}
	}
	q := courtesyQuestion("other", later)
	q.Spec.Request.Courtesy, q.Spec.Request.WallTime = 10, job.WallMax
	if p, err := Decide(q); err != nil || p.Alloc.Time != 4*time.Hour {
		t.Errorf("the longest wall time became %v, %v", p.Alloc.Time, err)
	}
}
