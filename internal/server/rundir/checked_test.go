package rundir

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/sys/statedir"
)

// oracle is a batch system with prepared answers to requests.
type oracle struct {
	start job.Time
	err   error
	asked int
}

func (o *oracle) Test(context.Context, job.AllocRequest) (job.Time, error) {
	o.asked++
	return o.start, o.err
}

// TestPlanChecked: a start that is much later than the queue shows leads to another plan, but not while jobs are pending,
// when the answer means nothing; a refusal always does.
func TestPlanChecked(t *testing.T) {
	const now = job.Time(1e18)
	hour := now.Add(time.Hour)
	refused := &job.Error{Class: job.User, What: "no"}
	for _, tt := range []struct {
		name    string
		pending []cluster.Queued
		oracle  oracle
		again   bool
		fails   bool
	}{
		{"at once", nil, oracle{start: now}, false, false},
		{"late", nil, oracle{start: hour}, true, false},
		{"late while a job waits", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Limit: time.Minute}}, oracle{start: hour}, false, false},
		{"late while a job is held", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Held: "by its user"}}, oracle{start: hour}, true, false},
		{"refused while a job waits", []cluster.Queued{{ID: "1", Partition: "main", Count: 1, Limit: time.Minute}}, oracle{err: refused}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := job.New(job.Bag, t.TempDir())
			spec.Bag.Command, spec.Request.On = []string{"true"}, "slurm"
			spec.Normalize()
			has := job.Resources{CPUs: 2, Mem: 4 << 30}
			snap := cluster.Snapshot{Driver: "slurm", At: now, Nodes: []cluster.Node{{Name: "n1", Capacity: has, Free: has}, {Name: "n2", Capacity: has, Free: has}},
				Queue: &cluster.Queue{Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, Nodes: []int{0, 1}}}, Pending: tt.pending}}
			q := plan.Question{Now: now, Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: 4}}
			_, err := PlanChecked(t.Context(), statedir.Home{}, q, &tt.oracle)
			if again := tt.oracle.asked > 1; again != tt.again || (err != nil) != tt.fails {
				t.Errorf("asked %d times, error %v", tt.oracle.asked, err)
			}
		})
	}
}

// TestRefusedAlways: a request that the batch system refuses however small it becomes is not submitted, even if there were more sizes to try.
func TestRefusedAlways(t *testing.T) {
	const now = job.Time(1e18)
	spec := job.New(job.Bag, t.TempDir())
	spec.Bag.Command, spec.Request.On = []string{"true"}, "slurm"
	spec.Normalize()
	has := job.Resources{CPUs: 64, Mem: 64 << 30}
	snap := cluster.Snapshot{Driver: "slurm", At: now, Queue: &cluster.Queue{Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true}}}}
	for i := range 64 {
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: "n", Capacity: has, Free: has})
		snap.Queue.Partitions[0].Nodes = append(snap.Queue.Partitions[0].Nodes, i)
	}
	o := oracle{err: &job.Error{Class: job.User, What: "there is no such project"}}
	p, err := PlanChecked(t.Context(), statedir.Home{}, plan.Question{Now: now, Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: 4096}}, &o)
	if err == nil || !strings.Contains(err.Error(), "there is no such project") || o.asked != checkRounds+2 {
		t.Errorf("asked %d times, planned %+v, error %v", o.asked, p.Alloc, err)
	}
}

// TestReservedNow: while too few nodes are not reserved for others, what the batch system refuses when it is asked may be accepted and wait. A
// reservation that is over, or of the request's own, changes nothing.
func TestReservedNow(t *testing.T) {
	for name, c := range map[string]struct {
		reserved cluster.Reservation
		args     []string
		fails    bool
	}{
		"all nodes":          {cluster.Reservation{Name: "r", Nodes: []int{0, 1}}, nil, false},
		"some nodes":         {cluster.Reservation{Name: "r", Nodes: []int{1}}, nil, true},
		"it is over":         {cluster.Reservation{Name: "r", Nodes: []int{0, 1}, End: anHour}, nil, true},
		"the request's own":  {cluster.Reservation{Name: "r", Nodes: []int{0, 1}, Mine: true}, []string{"--reservation=r"}, true},
		"in other partition": {cluster.Reservation{Name: "r", Nodes: []int{7}}, nil, true},
	} {
		q := question(2, 1, 1)
		q.Snap.Queue.Words.Reservation, q.Snap.Queue.Reservations, q.Spec.Request.BatchArgs = "--reservation=", []cluster.Reservation{c.reserved}, c.args
		o := oracle{err: &job.Error{Class: job.User, What: "Requested node configuration is not available"}}
		if p, err := PlanChecked(t.Context(), statedir.Home{}, q, &o); (err != nil) != c.fails || err == nil && (o.asked != 1 || len(p.Requests()) != 1) {
			t.Errorf("%s: asked %d times, %+v, %v", name, o.asked, p.Alloc, err)
		}
	}
}

// byPartition refuses requests in one partition.
type byPartition struct {
	refuses string
	asked   []string
}

func (b *byPartition) Test(_ context.Context, r job.AllocRequest) (job.Time, error) {
	b.asked = append(b.asked, r.Batch.Partition)
	if r.Batch.Partition == b.refuses {
		return 0, &job.Error{Class: job.User, What: "no"}
	}
	return r.Start, nil
}

// TestPlanCheckedByNeeds: of tasks that need different nodes a request for each is checked, and a refusal in one partition says nothing of
// requests in others.
func TestPlanCheckedByNeeds(t *testing.T) {
	now := job.Time(time.Hour)
	spec := job.New(job.Bag, t.TempDir())
	spec.Bag.Command, spec.Request.On = []string{"true"}, "slurm"
	spec.Normalize()
	has, gpus := job.Resources{CPUs: 2, Mem: 4 << 30}, job.Resources{CPUs: 2, Mem: 4 << 30, GPUs: 2}
	snap := cluster.Snapshot{Driver: "slurm", At: now, Nodes: []cluster.Node{{Name: "n1", Capacity: has, Free: has}, {Name: "g1", Capacity: gpus, Free: gpus}},
		Queue: &cluster.Queue{Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, Nodes: []int{0}}, {Name: "gpu", Nodes: []int{1}}}}}
	counts := plan.Counts{Tasks: 8, Needs: []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: 6}, {Needs: job.Needs{CPUs: 1, GPUs: 1}, Waiting: 2}}}
	b := &byPartition{}
	p, err := PlanChecked(t.Context(), statedir.Home{}, plan.Question{Now: now, Snap: snap, Spec: spec, Counts: counts}, b)
	if err != nil || len(p.Requests()) != 2 || len(b.asked) != 2 || p.Alloc.Batch.Among != "main,gpu" {
		t.Errorf("asked in %v for %+v, %v", b.asked, p.Requests(), err)
	}
	b = &byPartition{refuses: "gpu"}
	if _, err = PlanChecked(t.Context(), statedir.Home{}, plan.Question{Now: now, Snap: snap, Spec: spec, Counts: counts}, b); job.ClassOf(err) != job.User {
		t.Errorf("asked in %v: %v", b.asked, err)
	}
}

// TestPlanCheckedAnywhere: of any partition one that refuses every request is left out, also when the rest of a job is planned, whose requests keep
// the terms of its allocations.
func TestPlanCheckedAnywhere(t *testing.T) {
	for _, refuses := range []string{"", "main", "side"} {
		q := question(4, 2, 8)
		main := &q.Snap.Queue.Partitions[0]
		side := *main
		side.Name, side.Default = "side", false
		main.Nodes, side.Nodes = main.Nodes[:3], main.Nodes[3:]
		q.Snap.Queue.Partitions = append(q.Snap.Queue.Partitions, side)
		q.Spec.Request.Partition = "any"
		if _, err := plan.Anywhere(q.Snap.Queue, q.Spec); err != nil || q.Spec.Request.Partition != "main,side" {
			t.Fatal(q.Spec.Request.Partition, err)
		}
		b := &byPartition{refuses: refuses}
		p, err := PlanChecked(t.Context(), statedir.Home{}, q, b)
		refused := func(r job.AllocRequest) bool { return r.Batch.Partition == b.refuses }
		if err != nil || slices.ContainsFunc(p.Requests(), refused) {
			t.Errorf("%q refuses: asked in %v for %+v, %v", refuses, b.asked, p.Requests(), err)
		}
		q.Remaining = &job.Remaining{Tasks: 8}
		p, err = PlanChecked(t.Context(), statedir.Home{}, q, b)
		if err != nil || len(p.Requests()) == 0 || slices.ContainsFunc(p.Requests(), refused) || p.Alloc.Batch.Among != "main,side" {
			t.Errorf("%q refuses: asked in %v for the rest: %+v, %v", refuses, b.asked, p.Requests(), err)
		}
	}
}

// limited is a batch system that refuses requests above limits, in one way of saying so.
type limited struct {
	most  job.AllocRequest
	says  string
	asked int
}

func (l *limited) Test(_ context.Context, r job.AllocRequest) (job.Time, error) {
	l.asked++
	if m := l.most; r.Nodes > m.Nodes || r.PerNode.CPUs > m.PerNode.CPUs || r.PerNode.Mem > m.PerNode.Mem || r.Time > m.Time {
		return 0, &job.Error{Class: job.User, What: l.says}
	}
	return r.Start, nil
}

// TestSmallerIsAccepted: a job is planned wherever the batch system accepts a request in which one of its tasks has room, whatever
// else it refuses and however it says so.
func TestSmallerIsAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = job.Time(1e18)
		nodes, cpus := rapid.SampledFrom([]int{1, 3, 64}).Draw(t, "nodes"), rapid.SampledFrom([]int{1, 6, 64}).Draw(t, "cpus")
		spec := job.New(job.Bag, "/tmp")
		spec.Bag.Command, spec.Request.On = []string{"true"}, "slurm"
		spec.Normalize()
		spec.Bag.Need = job.Resources{CPUs: 1, Mem: 1 << 30}
		has := job.Resources{CPUs: cpus, Mem: int64(cpus) << 31}
		snap := cluster.Snapshot{Driver: "slurm", At: now, Queue: &cluster.Queue{Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true}}}}
		for i := range nodes {
			snap.Nodes = append(snap.Nodes, cluster.Node{Name: "n", Capacity: has, Free: has})
			snap.Queue.Partitions[0].Nodes = append(snap.Queue.Partitions[0].Nodes, i)
		}
		l := &limited{says: rapid.SampledFrom([]string{"Requested node configuration is not available", "Requested time limit is invalid", "no"}).Draw(t, "says"),
			most: job.AllocRequest{Nodes: rapid.IntRange(1, nodes).Draw(t, "most nodes"), Time: rapid.SampledFrom([]time.Duration{time.Minute, 20 * time.Minute, time.Hour}).Draw(t, "most time"),
				PerNode: job.Resources{CPUs: rapid.IntRange(1, cpus).Draw(t, "most cpus"), Mem: rapid.Int64Range(1, int64(cpus)).Draw(t, "most memory") << 31}}}
		p, err := PlanChecked(t.Context(), statedir.Home{}, plan.Question{Now: now, Snap: snap, Spec: spec, Counts: plan.Counts{Tasks: rapid.SampledFrom([]int{1, 50, 4096}).Draw(t, "tasks")}}, l)
		if err != nil || p.Alloc.Nodes < 1 {
			t.Errorf("asked %d times: %+v, %v", l.asked, p.Alloc, err)
		}
	})
}
