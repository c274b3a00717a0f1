package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// idle is a cluster of so many nodes of 4 cores and 16 GiB, all free.
func idle(nodes int) cluster.Snapshot {
	has := job.Resources{CPUs: 4, Mem: 16 << 30}
	q := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, MaxTime: 4 * time.Hour}}}
	snap := cluster.Snapshot{Driver: "slurm", At: begin, Queue: q}
	for i := range nodes {
		q.Partitions[0].Nodes = append(q.Partitions[0].Nodes, i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: "n", Capacity: has, Free: has})
	}
	return snap
}

// TestRequest: a request has the user's settings and the decision.
func TestRequest(t *testing.T) {
	q := bagOf(64, 20, rand.New(rand.NewPCG(1, 1)))
	q.Snap = idle(4)
	q.Spec.Name = "sim"
	q.Spec.Request = job.Request{
		IdleTimeout: job.DefaultIdleTimeout, Scratch: "/shared/tmp", Account: "physics", QOS: "low", Constraint: "", Exclusive: true,
		BatchArgs: []string{"--comment=x"}, MaxNodes: 3,
	}
	p, err := Decide(q)
	if err != nil {
		t.Fatal(err)
	}
	want := job.AllocRequest{
		On: "slurm", Nodes: 3, PerNode: job.Resources{CPUs: 4, Mem: 16 << 30}, Time: p.Alloc.Time, IdleTimeout: 10 * time.Second,
		SortMemory: 4 << 30, Scratch: "/shared/tmp", Elastic: true, Start: begin,
		Batch: job.Batch{Partition: "main", Account: "physics", QOS: "low", Exclusive: true, Args: []string{"--comment=x"}, Name: "berth-sim"},
	}
	if got := p.Requests(); !reflect.DeepEqual(got, []job.AllocRequest{want}) {
		t.Errorf("asks for %+v,\nwant %+v", got, want)
	}
	q.Spec.Request.IdleTimeout, q.Spec.Request.SortMemory = 5*time.Minute, 1<<30
	if p, err = Decide(q); err != nil || p.Alloc.IdleTimeout != 5*time.Minute || p.Alloc.SortMemory != 1<<30 {
		t.Errorf("%v: the user's own %+v became %+v", err, q.Spec.Request, p.Alloc)
	}
}

// TestIdleLimit: the more a joule is worth the sooner idle nodes are given back, and no later than without a weight.
func TestIdleLimit(t *testing.T) {
	for weight, want := range map[float64]time.Duration{0: 10 * time.Second, 1e-6: 10 * time.Second, 0.005: 3333 * time.Millisecond, 1: time.Second} {
		q := bagOf(64, 20, rand.New(rand.NewPCG(1, 1)))
		q.Snap = idle(3)
		q.Spec.Request = job.Request{IdleTimeout: job.DefaultIdleTimeout, MinNodes: 3, EnergyWeight: weight, NodePower: []job.NodePower{{Nodes: "gpu*", Power: job.Power{Idle: 50, Max: 90}}, {Power: job.Power{Idle: 100, Max: 200}}}}
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Alloc.IdleTimeout; got.Round(time.Millisecond) != want.Round(time.Millisecond) {
			t.Errorf("%g s a joule: idle for %v, want %v", weight, got, want)
		}
	}
}

// TestPlanSurvivesJSON: a plan that was kept beside a run is read back as it was.
func TestPlanSurvivesJSON(t *testing.T) {
	q := bagOf(300, 3, rand.New(rand.NewPCG(1, 1)))
	q.Snap = worlds(1)[0].snap
	p, err := Decide(q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v: %+v became %+v", err, p, got)
	}
}

func TestDoubt(t *testing.T) {
	p := Plan{At: begin, Alloc: job.AllocRequest{Nodes: 1, Start: seconds(600)}, Outlook: &Outlook{Expectation: Expectation{Turnaround: 1000}}}
	for start, want := range map[job.Time]bool{
		0: false, seconds(0): false, seconds(600): false, seconds(849): false, seconds(851): true,
	} {
		if got := p.Doubt(start); got != want {
			t.Errorf("start %v: %v", start, got)
		}
	}
	p.Outlook.Turnaround = 20 // a minute's grace, however short
	for start, want := range map[job.Time]bool{seconds(659): false, seconds(661): true} {
		if got := p.Doubt(start); got != want {
			t.Errorf("start %v of a short job: %v", start, got)
		}
	}
	if p.Alloc.Nodes = 0; p.Doubt(seconds(9999)) {
		t.Error("nothing is asked for, yet it is in doubt")
	}
}

// TestShareOfACluster: splits are cut for the most slots that the job could get, and for
// the memory that each has on workers of any size.
func TestShareOfACluster(t *testing.T) {
	spec := &job.Spec{Kind: job.MapReduce, MapReduce: &job.MapReduceSpec{Reduces: -1, MapNeed: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 2}}}
	l, err := DivideMachine(idle(8), spec)
	if err != nil || l.Nodes != 8 || l.TaskSlots != 32 || l.ReduceSlots != 16 || l.MapMemory() != 1<<30 {
		t.Errorf("%v: %+v", err, l)
	}
	spec.Request.MaxNodes = 3
	if l, err = DivideMachine(idle(8), spec); err != nil || l.TaskSlots != 12 {
		t.Errorf("%v: of three nodes %+v", err, l)
	}
	spec.MapReduce.MapNeed.Mem = 64 << 30
	if _, err = DivideMachine(idle(8), spec); job.ClassOf(err) != job.User {
		t.Errorf("a map of 64 GiB: %v", err)
	}
}

// TestGuessReduces: 40 maps read 100 bytes each in 10 s and write 50; each of eight reduces has 250 of these bytes,
// which takes it 25 s.
func TestGuessReduces(t *testing.T) {
	var c predict.Collector
	for range 10 {
		c.Add(job.MapTask, []job.PhaseStat{{Phase: job.PhaseMap, End: job.Time(10 * time.Second), BytesIn: 100, BytesOut: 50}})
	}
	size := predict.Size{Kind: job.MapReduce, InputBytes: 4000, Tasks: 40, Reduces: 8}
	measured := &predict.Profile{}
	measured.AddRun(size, 0, c.Measures())
	k := knowledgeOf(&Question{Measured: measured}, size, nil)
	if !k.ok || !k.guessed || k.inv.Reduce.Avg < 24.99 || k.inv.Reduce.Avg > 25.01 || k.runs != 10 {
		t.Errorf("%+v", k)
	}
	if none := knowledgeOf(&Question{}, size, nil); none.ok || none.source == "" {
		t.Errorf("of nothing: %+v", none)
	}
}

// TestMeasuredGoesFirst: measurements of this run replace the profile once there are enough.
func TestMeasuredGoesFirst(t *testing.T) {
	size := predict.Size{Kind: job.Bag, Tasks: 100}
	of := func(tasks int, took time.Duration) *predict.Profile {
		var c predict.Collector
		for range tasks {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(took)}})
		}
		p := &predict.Profile{}
		p.AddRun(size, 0, c.Measures())
		return p
	}
	for _, tt := range []struct {
		measured int
		profile  bool
		want     float64
	}{{0, true, 60}, {enough - 1, true, 60}, {enough, true, 9}, {1, false, 9}} {
		q := Question{Measured: of(tt.measured, 9*time.Second)}
		if tt.profile {
			q.Profile = of(50, time.Minute)
		}
		if k := knowledgeOf(&q, size, nil); !k.ok || k.inv.Map.Max != tt.want {
			t.Errorf("%d measured, profile %v: tasks of %g s, want %g (%s)", tt.measured, tt.profile, k.inv.Map.Max, tt.want, k.source)
		}
	}
}

// TestErrorsOfPlaces: the error names the partition, flag or feature that cannot be used, and its class says who can mend it.
func TestErrorsOfPlaces(t *testing.T) {
	down := func(s *cluster.Snapshot) {
		for i := range s.Nodes {
			s.Nodes[i].Down = "drained: new disks"
		}
	}
	for name, tt := range map[string]struct {
		change func(*cluster.Snapshot, *job.Request)
		class  job.Class
		says   string
	}{
		"all down": {func(s *cluster.Snapshot, _ *job.Request) { down(s) }, job.Transient,
			"partition main: it has no usable node (4 nodes: drained: new disks); wait, or use another partition"},
		"no such feature": {func(_ *cluster.Snapshot, r *job.Request) { r.Constraint = "gpu" }, job.User,
			"partition main: it has no usable node (4 nodes: lacks gpu); change the constraint or the reservation, or use another partition"},
		"all closed": {func(s *cluster.Snapshot, _ *job.Request) { s.Queue.Partitions[0].Closed = "down" }, job.Transient,
			"slurm: no partition is open (main: down); ask the administrator of the cluster"},
		"too many": {func(_ *cluster.Snapshot, r *job.Request) { r.MinNodes = 5 }, job.User,
			"--nodes: at least 5 nodes are required, but partition main has 4 that are up and large enough; request fewer, or use another partition"},
		"too many are down": {func(s *cluster.Snapshot, r *job.Request) { s.Nodes[0].Down, r.MinNodes = "drained", 4 }, job.Transient,
			"--nodes: at least 4 nodes are required, but partition main has 3 that are up and large enough; request fewer, or use another partition"},
		"not of me": {func(s *cluster.Snapshot, r *job.Request) {
			s.Queue.Words.Reservation, r.BatchArgs = "--reservation=", []string{"--reservation=theirs"}
		}, job.User,
			"partition main: it has no usable node (4 nodes: not in reservation theirs); change the constraint or the reservation, or use another partition"},
	} {
		t.Run(name, func(t *testing.T) {
			q := bagOf(10, 1, rand.New(rand.NewPCG(1, 1)))
			q.Snap = idle(4)
			tt.change(&q.Snap, &q.Spec.Request)
			_, err := Decide(q)
			if err == nil || job.ClassOf(err) != tt.class || err.Error() != tt.says {
				t.Errorf("%s error %q,\nwant %s %q", job.ClassOf(err), err, tt.class, tt.says)
			}
		})
	}
}

// TestKeptWork: what tasks have worked in attempts that asked for another one is taken off their expected time.
func TestKeptWork(t *testing.T) {
	var c predict.Collector
	for range 10 {
		c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Hour)}})
	}
	size := predict.Size{Kind: job.Bag, Tasks: 10}
	measured := &predict.Profile{}
	measured.AddRun(size, 0, c.Measures())
	expected := func(tasks int, kept time.Duration) time.Duration {
		k := knowledgeOf(&Question{Measured: measured}, size, nil)
		k.shorten(&job.Remaining{Tasks: tasks, Kept: kept})
		return time.Duration(k.inv.Map.Avg * float64(time.Second)).Round(time.Minute)
	}
	for _, tt := range []struct {
		tasks int
		kept  time.Duration
		want  time.Duration
	}{{2, 0, time.Hour}, {2, time.Hour, 30 * time.Minute}, {1, 50 * time.Minute, 13 * time.Minute}, {1, 8 * time.Hour, 2 * time.Hour}} {
		if got := expected(tt.tasks, tt.kept); got != tt.want {
			t.Errorf("%d tasks that worked for %v: %v are left for each, want %v", tt.tasks, tt.kept, got, tt.want)
		}
	}
}
