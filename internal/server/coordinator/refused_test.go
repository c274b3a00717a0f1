package coordinator

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/step"
	"berth/internal/driver"
	"berth/internal/server/control"
	"berth/internal/sys/statedir"
)

// refusing is a batch system that refuses requests of more nodes when they are submitted, and says nothing of them before.
type refusing struct {
	driver.Driver
	most  int
	says  string
	input func(step.Input)
	asked chan int // nodes of each request
}

func (d *refusing) Close() error { return nil }

func (d *refusing) Clear(context.Context, job.AllocID) error { return nil }

func (d *refusing) Snapshot(context.Context, string) (cluster.Snapshot, error) {
	has := job.Resources{CPUs: 1, Mem: 1 << 30}
	snap := cluster.Snapshot{Driver: "batch", At: wallNow(), Queue: &cluster.Queue{ID: "c/1", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true}}}}
	for i := range 8 {
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: "n", Capacity: has, Free: has})
		snap.Queue.Partitions[0].Nodes = append(snap.Queue.Partitions[0].Nodes, i)
	}
	return snap, nil
}

func (d *refusing) Request(_ context.Context, id job.AllocID, r job.AllocRequest) error {
	if r.Nodes > d.most {
		d.input(step.AllocDown{Alloc: id, Reason: "batch refuses its job: " + d.says, Refuse: true})
	}
	d.asked <- r.Nodes
	return nil
}

// TestRefusedAtSubmission: a job whose request is refused when it is submitted asks for smaller ones until one is accepted, if the refusal is
// about its size, and else fails with what the batch system says. The loop goes on while a file is read for that.
func TestRefusedAtSubmission(t *testing.T) {
	for says, want := range map[string][]int{"too many nodes for you": {8, 4, 2}, "you have no account": {8}} {
		s := running(t, options(t))
		d := &refusing{most: 2, says: says, input: s.input, asked: make(chan int, 99)}
		if err := s.call(func() error { s.backends.add("batch", d); return nil }); err != nil {
			t.Fatal(err)
		}
		r := s.home.Run(prepared(t, s, 64))
		p := plan.Plan{Kind: job.Bag, Tasks: 64, Reasons: []string{"because"}, Alloc: job.AllocRequest{On: "batch", Nodes: 8, Elastic: true, Time: time.Hour,
			PerNode: job.Resources{CPUs: 1, Mem: 1 << 30}, Batch: job.Batch{Partition: "main", Cluster: "c/1"}}}
		if err := statedir.WriteJSON(r.Plan(), p); err != nil {
			t.Fatal(err)
		}
		s.judging.Lock() // as long as the file does not answer
		if err := s.submit(t.Context(), control.Submit{ID: r.ID}); err != nil {
			t.Fatal(err)
		}
		var got []int
		for i := range want {
			select {
			case n := <-d.asked:
				if got = append(got, n); i == 0 {
					err := s.inspect(func() {}) // after it has heard of the refusal
					if s.judging.Unlock(); err != nil {
						t.Fatal(err)
					}
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("%s: asked for %v nodes and no more, want %v", says, got, want)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: asked for %v nodes, want %v", says, got, want)
		}
		if len(want) > 1 {
			continue
		}
		l := s.lookup(r.ID)
		_, archived := l.ends()
		<-archived
		if v := l.view(s.now()); v.State != event.StateFailed || !strings.Contains(v.Reason, says) {
			t.Errorf("%s: %s, %s", says, v.State, v.Reason)
		}
	}
}
