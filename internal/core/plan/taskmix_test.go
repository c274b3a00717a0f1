package plan

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// genMix draws tasks of up to so many needs that a node of that size holds.
func genMix(t *rapid.T, size job.Resources, most int) (m taskMix) {
	for i := range rapid.IntRange(1, most).Draw(t, "needs") {
		tasks := rapid.IntRange(1, 60).Draw(t, "tasks")
		k := kindOf(job.Needs{CPUs: rapid.IntRange(1, size.CPUs).Draw(t, "cores"), Mem: rapid.Int64Range(0, size.Mem).Draw(t, "memory"),
			GPUs: rapid.IntRange(0, size.GPUs).Draw(t, "GPUs")})
		k.index, k.tasks = i, tasks
		m = append(m, k)
	}
	return m
}

// firstFit returns on how many nodes of that size all tasks run at once if each is put on the first with room, the largest first.
func firstFit(m taskMix, size job.Resources) int {
	share := func(r job.Resources) float64 {
		return max(cpus(r)/cpus(size), memory(r)/max(1, memory(size)), gpus(r)/max(1, gpus(size)))
	}
	var tasks []job.Resources
	for _, k := range m {
		for range k.tasks {
			tasks = append(tasks, k.Resources)
		}
	}
	slices.SortStableFunc(tasks, func(x, y job.Resources) int {
		switch a, b := share(x), share(y); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	var free []job.Resources
	for _, r := range tasks {
		i := slices.IndexFunc(free, r.Fits)
		if i < 0 {
			i = len(free)
			free = append(free, size)
		}
		free[i] = free[i].Minus(r)
	}
	return len(free)
}

// TestSlotsOfAMix compares the number of tasks on a node with a packer that knows each task. Tasks of a mix need no more nodes by the model
// than it needs, because all bounds of the model hold for each way to pack; and where only cores are scarce it needs no more than twice as
// many. With equal needs both are the same, and as they were before there were mixes.
func TestSlotsOfAMix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := job.Resources{CPUs: rapid.IntRange(1, 64).Draw(t, "of cores"), Mem: rapid.Int64Range(0, 64).Draw(t, "of memory"), GPUs: rapid.IntRange(0, 8).Draw(t, "of GPUs")}
		m := genMix(t, size, 8)
		onlyCores := rapid.Bool().Draw(t, "cores alone")
		if onlyCores {
			for i := range m {
				m[i].Mem, m[i].GPUs = 0, 0
			}
		}
		s, packed := m.slotsOn(size), firstFit(m, size)
		if s < 1-rounding {
			t.Fatalf("a node that holds a task of each kind runs %g", s)
		}
		if least := float64(m.count()) / float64(s); least > float64(packed)*(1+rounding) {
			t.Fatalf("%g nodes, but first fit needs %d", least, packed)
		}
		if most := 2*s.nodesFor(m.count()) + 1; onlyCores && packed > most {
			t.Fatalf("%d nodes by first fit, but the model has %d", packed, s.nodesFor(m.count()))
		}
		one := taskMix{m[0]}
		if got, want := one.slotsOn(size).onNodes(7), 7*size.Slots(m[0].Resources); got != want {
			t.Fatalf("%d tasks of equal needs at once, want %d", got, want)
		}
		if n := one.slotsOn(size).nodesFor(m[0].tasks); n != firstFit(one, size) {
			t.Fatalf("%d nodes, first fit needs %d", n, firstFit(one, size))
		}
	})
}

// TestSharesByTime: of the tasks that run at the same time a kind has the part that its tasks have of the whole work.
func TestSharesByTime(t *testing.T) {
	m := taskMix{kindOf(job.Needs{CPUs: 1}), kindOf(job.Needs{CPUs: 8})}
	m[0].tasks, m[0].seconds, m[1].tasks, m[1].seconds = 100, 10, 10, 300
	if got := m.shares(); got[0] != 0.25 || got[1] != 0.75 {
		t.Errorf("shares %v", got)
	}
	// A quarter of one core and three quarters of eight cores are 6.25 cores, so 64 cores run 10.24; but eight of them are large at most.
	if got := m.slotsOn(job.Resources{CPUs: 64}); math.Abs(float64(got)-10.24) > 1e-9 {
		t.Errorf("%g tasks on 64 cores", got)
	}
	if got := m.slotsOn(job.Resources{CPUs: 15}); math.Abs(float64(got)-1/0.75) > 1e-9 {
		t.Errorf("%g tasks on 15 cores, where one large one runs at once", got)
	}
	if got := m.byCount().shares(); got[0] != 100.0/110 {
		t.Errorf("shares by number %v", got)
	}
}

// genMixed draws a cluster with nodes of several sizes in up to three partitions, and a bag whose tasks have different needs.
func genMixed(t *rapid.T) Question {
	q := genQuestion(t)
	snap := &q.Snap
	n := len(snap.Nodes)
	for i, name := range []string{"fat", "gpu"} {
		p := cluster.Partition{Name: name, Whole: rapid.Bool().Draw(t, "whole")}
		size := job.Resources{CPUs: 8, Mem: 64 << 30, GPUs: 4 * i}
		for range rapid.IntRange(0, 3).Draw(t, name) {
			p.Nodes = append(p.Nodes, len(snap.Nodes))
			snap.Nodes = append(snap.Nodes, cluster.Node{Name: name, Capacity: size, Free: size})
		}
		if len(p.Nodes) > 0 {
			snap.Queue.Partitions = append(snap.Queue.Partitions, p)
		}
	}
	if rapid.Bool().Draw(t, "one partition") {
		for i := n; i < len(snap.Nodes); i++ {
			snap.Queue.Partitions[0].Nodes = append(snap.Queue.Partitions[0].Nodes, i)
		}
	}
	q.Spec.Request.MinNodes = 0
	var all []*cluster.Partition
	for i := range snap.Queue.Partitions {
		all = append(all, &snap.Queue.Partitions[i])
	}
	left := make([]job.NeedsLeft, rapid.IntRange(1, 6).Draw(t, "needs"))
	q.Counts.Tasks = 0
	for i := range left {
		left[i] = job.NeedsLeft{Waiting: rapid.IntRange(0, 40).Draw(t, "tasks"), Needs: job.Needs{CPUs: rapid.SampledFrom([]int{1, 1, 2, 4, 8}).Draw(t, "cores"),
			Mem: rapid.SampledFrom([]int64{0, 1 << 30, 8 << 30, 32 << 30}).Draw(t, "memory"), GPUs: rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "GPUs"), Gang: genGang(t)}}
		q.Counts.Tasks += left[i].Waiting
	}
	if q.Counts.Tasks == 0 {
		q.Counts.Tasks, left[0].Waiting = 1, 1
	}
	q.Counts.Needs = left
	if rapid.Bool().Draw(t, "unknown") {
		q.Profile = nil
	}
	if rapid.Bool().Draw(t, "begun") {
		q.Remaining = &job.Remaining{Tasks: q.Counts.Tasks, Needs: left}
		for range rapid.IntRange(0, 2).Draw(t, "live") {
			size := job.Resources{CPUs: rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "live cores"), Mem: 8 << 30}
			q.Remaining.Live = append(q.Remaining.Live, job.Live{Began: begin, Ends: seconds(rapid.IntRange(60, 7200).Draw(t, "ends")),
				Request: job.AllocRequest{Nodes: rapid.IntRange(1, 3).Draw(t, "nodes"), PerNode: size, Batch: job.Batch{Partition: "main", Among: partitionList(all)}}})
		}
	}
	return q
}

// TestEveryNeedIsServed: for tasks of each needs there is an allocation, present or requested, that holds them, or the plan fails and says
// why. No request is for more nodes than its partition has for such workers, and together they keep the user's bound.
func TestEveryNeedIsServed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genMixed(t)
		p, err := Decide(q)
		if err != nil {
			if e := (*job.Error)(nil); !errors.As(err, &e) || e.What == "" || e.Where == "" {
				t.Fatalf("it fails without a reason: %v", err)
			}
			t.Skip(err.Error())
		}
		for i, l := range q.tasksLeft() {
			need := l.asNeeds()
			fits := func(r job.AllocRequest) bool {
				n := need.NodesOf(r.PerNode)
				return n > 0 && n <= r.Nodes
			}
			at := slices.ContainsFunc(p.Requests(), fits) || slices.ContainsFunc(q.liveAllocations(), func(l job.Live) bool { return fits(l.Request) })
			if !at {
				t.Fatalf("nothing holds a task of %s: %+v", need.Words(), p.Requests())
			}
			for k, of := range p.Serves {
				if slices.Contains(of, i) && !fits(p.Requests()[k]) {
					t.Fatalf("%+v is for tasks of %s", p.Requests()[k], need.Words())
				}
			}
		}
		nodes := 0
		for _, r := range p.Requests() {
			nodes = max(nodes, r.Nodes)
			at := slices.IndexFunc(q.Snap.Queue.Partitions, func(x cluster.Partition) bool { return x.Name == r.Batch.Partition })
			has := 0
			for _, n := range q.Snap.Queue.Partitions[at].Nodes {
				if r.PerNode.Fits(q.Snap.Nodes[n].Capacity) {
					has++
				}
			}
			if r.Nodes > has || r.Nodes < 1 {
				t.Fatalf("%d nodes of %s, and %s has %d", r.Nodes, r.PerNode.Words(), r.Batch.Partition, has)
			}
			if r.Batch.Partitions() != p.Alloc.Batch.Partitions() {
				t.Fatalf("in %q and %q: not of one pool", r.Batch.Partitions(), p.Alloc.Batch.Partitions())
			}
		}
		if most := q.Spec.Request.MaxNodes; most > 0 && nodes > most {
			t.Fatalf("%d nodes, allowed are %d", nodes, most)
		}
		if p.Mix != nil && len(p.Requests()) != len(p.Serves) {
			t.Fatalf("%d requests, %d are for something", len(p.Requests()), len(p.Serves))
		}
		brief := q
		brief.Brief = true
		if b := decided(t, brief); !reflect.DeepEqual(b.Requests(), p.Requests()) {
			t.Fatalf("in brief %+v, else %+v", b.Requests(), p.Requests())
		}
	})
}

// TestOneNeed: a bag whose tasks all have the needs of the bag is planned as if nothing was said of needs; if these are needs of their own,
// with the same requests.
func TestOneNeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "unknown") {
			q.Profile = nil
		}
		if rapid.Bool().Draw(t, "one machine") {
			q.Snap.Queue, q.Spec.Request = nil, job.Request{}
		}
		want := decided(t, q)
		of := []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: q.Counts.Tasks}}
		q.Counts.Needs = of
		if got := decided(t, q); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, without needs %+v", got, want)
		}
		spec, bag := *q.Spec, *q.Spec.Bag
		spec.Bag, bag.Need.CPUs, bag.Need.Mem = &bag, 1, 512<<20
		q.Spec, q.Counts.Needs = &spec, append([]job.NeedsLeft{{Needs: job.Needs{CPUs: 1, Mem: 512 << 20}}}, of...)
		got := decided(t, q)
		if !reflect.DeepEqual(got.Requests(), want.Requests()) || !reflect.DeepEqual(got.Predicted, want.Predicted) {
			t.Fatalf("%+v, %+v, without needs of their own %+v, %+v", got.Requests(), got.Predicted, want.Requests(), want.Predicted)
		}
	})
}

// TestKnownByNeeds: tasks with needs whose durations are known alone take these, others those of the job, or of the rest.
func TestKnownByNeeds(t *testing.T) {
	of := func(seconds int) *predict.Profile {
		var c predict.Collector
		for range 10 {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Duration(seconds) * time.Second)}})
		}
		p := &predict.Profile{}
		p.AddRun(predict.Size{Kind: job.Bag, Tasks: 10}, 0, c.Measures())
		return p
	}
	size := predict.Size{Kind: job.Bag, Tasks: 40}
	m := taskMix{{tasks: 30, index: 0}, {tasks: 10, index: 1}}
	q := Question{Profile: of(10), Own: []Own{{}, {Profile: of(50)}}}
	k := knowledgeOf(&q, size, m)
	if !k.ok || m[0].seconds != 10 || m[1].seconds != 50 || math.Abs(k.inv.Map.Avg-20) > 1e-9 || k.inv.Map.Max != 50 {
		t.Errorf("%+v, %+v", k, m)
	}
	if got := k.inv.Map.Quantile(0.5); math.Abs(got-10) > 0.2 {
		t.Errorf("half of the tasks take %g s", got)
	}
	q.Own[1].Measured = of(70)
	if k = knowledgeOf(&q, size, m); m[1].seconds != 70 {
		t.Errorf("measured %+v", m)
	}
	q.Profile = nil
	if k = knowledgeOf(&q, size, m); !k.ok || m[0].seconds != 70 || m[1].seconds != 70 {
		t.Errorf("of the first nothing is known: %+v, %+v", k, m)
	}
}

// TestLongTasksOfAPart: only those tasks get more time that were cut short, or are known to take long.
func TestLongTasksOfAPart(t *testing.T) {
	q := bagOf(20, 20, rand.New(rand.NewPCG(1, 1)))
	q.Snap = idle(6)
	for i := range 2 {
		q.Snap.Nodes[i].Capacity.GPUs, q.Snap.Nodes[i].Free.GPUs = 2, 2
	}
	q.Remaining = &job.Remaining{Tasks: 20, CutShort: time.Hour, Span: 2 * time.Hour, Needs: []job.NeedsLeft{{Needs: job.Needs{CPUs: 1}, Waiting: 16},
		{Needs: job.Needs{CPUs: 1, GPUs: 1}, Waiting: 4, CutShort: time.Hour, Span: 2 * time.Hour}}}
	p, err := Decide(q)
	if err != nil || len(p.Requests()) != 2 {
		t.Fatalf("%+v, %v", p.Requests(), err)
	}
	for _, r := range p.Requests() {
		if long := r.Time > time.Hour; long != (r.PerNode.GPUs > 0) {
			t.Errorf("%s for %v", r.PerNode.Words(), r.Time)
		}
	}
}

// BenchmarkDecideNeeds plans 10,000 tasks of 20 different needs on 5,000 nodes of four sizes with 10,000 jobs.
func BenchmarkDecideNeeds(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	q := bagOf(10_000, 3, rng)
	q.Snap = busyCluster(5000, 10_000, rng)
	for i := range q.Snap.Nodes {
		more := func(r *job.Resources) {
			switch {
			case i%50 == 0:
				r.Mem += 1 << 40
			case i%20 == 1:
				r.GPUs, r.GPUType = 4, "a100"
			case i%100 == 2:
				r.GPUs, r.GPUType = 8, "h100"
			}
		}
		more(&q.Snap.Nodes[i].Capacity)
		more(&q.Snap.Nodes[i].Free)
	}
	for i := range 20 {
		n := job.Needs{CPUs: 1 << (i % 6), Mem: int64(1+i) << 30}
		switch i % 5 {
		case 3:
			n.Mem = int64(300+i) << 30
		case 4:
			n.GPUs, n.CPUs = 1+i%3, 1+i%8
		}
		q.Counts.Needs = append(q.Counts.Needs, job.NeedsLeft{Needs: n, Waiting: 500})
	}
	for b.Loop() {
		p, err := Decide(q)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(p.Requests())), "requests")
		b.ReportMetric(p.Outlook.Turnaround, "turnaround-s")
	}
}
