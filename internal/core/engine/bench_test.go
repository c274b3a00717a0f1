package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// bench is an engine that runs one bag, and its running attempts.
type bench struct {
	e       *engine.Engine
	now     job.Time
	running []job.Attempt
}

func (b *bench) step(in step.Input) {
	b.now++
	out, err := b.e.Step(b.now, in)
	if err != nil {
		panic(err)
	}
	for _, a := range out.Actions {
		if s, ok := a.(step.Start); ok {
			b.running = append(b.running, s.Attempt)
		}
	}
}

// newBench returns an engine with a bag of that many tasks on that many nodes of 4 cores.
func newBench(tasks, nodes int) *bench { return newBenchIn(sched.FIFO, tasks, nodes) }

func newBenchIn(order sched.Order, tasks, nodes int) *bench {
	return newBenchOf(engine.Config{Order: order}, tasks, nodes)
}

func newBenchOf(cfg engine.Config, tasks, nodes int) *bench {
	b := &bench{e: engine.New(cfg)}
	shape := job.AllocRequest{On: "bench", Nodes: nodes, PerNode: benchNode}
	b.step(step.Submit{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: tasks, Terms: oneCore, Alloc: shape}})
	for i := range nodes {
		b.step(step.NodeUp{NodeJoined: event.NodeJoined{Node: job.AllocID("a1").Node(i), Capacity: shape.PerNode}})
	}
	return b
}

// finish ends the attempt that has run longest.
func (b *bench) finish() {
	at := b.running[0]
	b.running = b.running[1:]
	b.step(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: at, Outcome: event.Done}})
}

// BenchmarkCompletions measures the engine alone: an attempt ends, and the next one is chosen
// and started. One operation is a whole bag. tasks/s should not depend on the size of the bag; the
// memory of a queued task is printed as well.
func BenchmarkCompletions(b *testing.B) { completions(b, sched.FIFO) }

// BenchmarkShortestCompletions measures the same in the order sched.Shortest.
func BenchmarkShortestCompletions(b *testing.B) { completions(b, sched.Shortest) }

func completions(b *testing.B, order sched.Order) {
	for _, tasks := range []int{1e3, 1e4, 1e5, 1e6} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			for range b.N {
				w := newBenchIn(order, tasks, 25)
				for len(w.running) > 0 {
					w.finish()
				}
				if j, _ := w.e.Job("bag-1"); j.Tasks.Done != tasks {
					b.Fatalf("%d tasks done", j.Tasks.Done)
				}
			}
			b.ReportMetric(float64(tasks)*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

// BenchmarkPhasesCompletions measures the same with the scheduler sched.Phases and up to 10,000 nodes.
func BenchmarkPhasesCompletions(b *testing.B) {
	for _, size := range [][2]int{{1e3, 25}, {1e4, 25}, {1e5, 25}, {1e6, 25}, {1e6, 1}, {1e6, 1000}, {1e6, 10000}} {
		b.Run(fmt.Sprintf("tasks=%d/nodes=%d", size[0], size[1]), func(b *testing.B) {
			var spent time.Duration
			for range b.N {
				w := newBenchOf(engine.Config{Scheduler: sched.Phases}, size[0], size[1])
				began := time.Now()
				for len(w.running) > 0 {
					w.finish()
				}
				spent += time.Since(began)
			}
			b.ReportMetric(float64(size[0])*float64(b.N)/spent.Seconds(), "tasks/s")
		})
	}
}

// BenchmarkGangWaits measures the end of an attempt on one of 1,000 nodes of 64 cores that a gang waits for, with smaller tasks behind it.
func BenchmarkGangWaits(b *testing.B) {
	for _, known := range []time.Duration{0, time.Minute} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			const nodes, cores = 1000, 64
			w := &bench{e: engine.New(engine.Config{Order: sched.FIFO})}
			submit := func(id job.ID, tasks int, gang job.Gang, time time.Duration) {
				terms := oneCore
				terms.Gang = gang
				w.step(step.Submit{Work: job.Work{ID: id, Kind: job.Bag, Tasks: tasks, Terms: terms, Followup: job.Followup{TaskTimes: job.TaskTimes{TaskTime: time}},
					Alloc: job.AllocRequest{On: "bench", Nodes: nodes, PerNode: job.Resources{CPUs: cores}}}})
			}
			submit("bag-1", nodes*cores, job.Gang{}, known)
			for i := range nodes {
				w.step(step.NodeUp{NodeJoined: event.NodeJoined{Node: job.AllocID("a1").Node(i), Capacity: job.Resources{CPUs: cores}}})
				w.now += job.Time(time.Millisecond)
			}
			submit("bag-2", 1, job.Gang{Ranks: nodes * cores / 2}, 0)
			submit("bag-3", 1e6, job.Gang{}, 0)
			b.ResetTimer()
			for range b.N {
				w.finish()
				w.now += job.Time(time.Millisecond)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/end")
		})
	}
}

// BenchmarkPhaseDecision measures a decision for one node of 10,000, with 100 jobs that each have phases of their own: an
// attempt ends, and the candidates for its node are compared.
func BenchmarkPhaseDecision(b *testing.B) {
	const jobs, nodes = 100, 10000
	w := newBenchOf(engine.Config{Scheduler: sched.Phases}, 1, nodes)
	for i := range jobs {
		w.step(step.Submit{Work: job.Work{
			ID: job.ID(fmt.Sprintf("mr-%d", i+2)), Kind: job.MapReduce, Tasks: 1e7 / jobs * 4, Reduces: 10, Terms: job.Terms{Need: job.Resources{CPUs: 1}, Attempts: 1, ReduceNeed: job.Resources{CPUs: 1}, ReduceAttempts: 1},
			SlowStart: 1, Alloc: job.AllocRequest{On: "bench", Nodes: nodes, PerNode: benchNode},
			Demands: []job.PhaseDemand{{Phase: job.PhaseMap, Seconds: 10, Demand: job.Vector{CPU: 500 + int64(i)*10, Memory: 1 << 20, Disk: int64(i) << 18}}, {Phase: job.PhaseMerge, Seconds: 1, Demand: job.Vector{CPU: 100, Disk: 50 << 20}}},
		}})
	}
	w.finish()
	b.ResetTimer()
	for range b.N {
		w.finish()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/decision")
}

// BenchmarkQueued measures the memory of queued tasks, in bytes for each task.
func BenchmarkQueued(b *testing.B) {
	const tasks = 1e6
	for range b.N {
		before := heap()
		w := newBench(tasks, 25)
		b.ReportMetric(float64(heap()-before)/tasks, "B/task")
		runtime.KeepAlive(w)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkJobs measures the same with many jobs in line and many nodes, where most
// jobs cannot start anything.
func BenchmarkJobs(b *testing.B) { manyJobs(b, sched.FIFO) }

// BenchmarkShortestJobs measures the same in the order sched.Shortest. It uses the same jobs, as
// touching memory for the first time takes as long as all else. Their lengths differ widely,
// so that the short ones end meanwhile.
func BenchmarkShortestJobs(b *testing.B) { manyJobs(b, sched.Shortest) }

func manyJobs(b *testing.B, order sched.Order) {
	for _, jobs := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			w := newBenchIn(order, 1e7, 1000)
			for i := range jobs {
				need := job.Resources{CPUs: 1 + i%4, Mem: 0}
				w.step(step.Submit{Work: job.Work{
					ID: job.ID(fmt.Sprintf("bag-%d", i+2)), Kind: job.Bag, Tasks: 1e6 / (1 + i), Terms: job.Terms{Need: need, Attempts: 1, MaxFails: -1},
					Alloc: job.AllocRequest{On: "bench", Nodes: 1000, PerNode: benchNode},
				}})
			}
			b.ResetTimer()
			for range b.N {
				w.finish()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

// BenchmarkElastic measures the same on allocations of a batch system: many jobs with
// different expected task times, 500 nodes with time for all of them and
// 500 without any time left that still run something.
func BenchmarkElastic(b *testing.B) {
	for _, jobs := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			w := newElasticBench(jobs)
			b.ResetTimer()
			for range b.N {
				w.finish()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
		})
	}
}

func newElasticBench(jobs int) *bench {
	w := &bench{e: engine.New(engine.Config{})}
	const nodes = 500
	shape := job.AllocRequest{On: "bench", Nodes: nodes, PerNode: job.Resources{CPUs: 4}, Time: 1e6 * time.Hour, Elastic: true}
	for i := range jobs {
		w.step(step.Submit{Work: job.Work{ID: job.ID(fmt.Sprintf("bag-%d", i)), Kind: job.Bag, Tasks: 1e8 / jobs, Terms: oneCore,
			Alloc: shape, Followup: job.Followup{TaskTimes: job.TaskTimes{TaskTime: time.Duration(i%100+1) * time.Minute}}}})
	}
	ids := []job.AllocID{"a1", "a2"}
	if jobs == 1 {
		w.step(step.AllocDown{Alloc: "a1"})
		w.step(step.Planned{Job: "bag-0", Answer: job.Answer{Allocs: []job.AllocRequest{shape, shape}}})
		ids = []job.AllocID{"a2", "a3"}
	}
	for _, id := range ids {
		w.step(step.AllocUp{Alloc: id})
		for i := range nodes {
			w.step(step.NodeUp{NodeJoined: event.NodeJoined{Node: id.Node(i), Capacity: shape.PerNode}})
		}
	}
	w.step(step.AllocUp{Alloc: ids[1], Ends: w.now + 1})
	return w
}

// BenchmarkReplay measures how fast a new coordinator replays a journal.
func BenchmarkReplay(b *testing.B) {
	const tasks = 1e5
	w := newBench(tasks, 25)
	e := engine.New(engine.Config{})
	var journal []event.Entry
	give := func(in step.Input) {
		out, _ := e.Step(w.now, in)
		for _, r := range out.Records {
			journal = append(journal, event.Entry{At: w.now, Record: r})
		}
	}
	shape := job.AllocRequest{On: "bench", Nodes: 1, PerNode: job.Resources{CPUs: 1}}
	give(step.Submit{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: tasks, Terms: oneCore, Alloc: shape}})
	give(step.NodeUp{NodeJoined: event.NodeJoined{Node: "a1/0", Capacity: shape.PerNode}})
	for i := range int(tasks) {
		give(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: job.Attempt{Job: "bag-1", Task: i, N: 1}, Outcome: event.Done}})
	}
	b.ResetTimer()
	for range b.N {
		e := engine.New(engine.Config{})
		for _, ent := range journal {
			e.Replay(ent)
		}
	}
	b.ReportMetric(float64(len(journal))*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// benchNode is the capacity of each node.
var benchNode = job.Resources{CPUs: 4, Mem: 8 << 30}

// oneCore is the terms of jobs whose tasks need a core each.
var oneCore = job.Terms{Need: job.Resources{CPUs: 1}, Attempts: 1, MaxFails: -1}

// BenchmarkGrowing measures the engine alone with a bag whose memory is chosen from what its tasks used, which differs from task to task.
func BenchmarkGrowing(b *testing.B) {
	const tasks = 100_000
	for b.Loop() {
		w := &bench{e: engine.New(engine.Config{})}
		shape := job.AllocRequest{On: "bench", Nodes: 25, PerNode: benchNode}
		terms := oneCore
		terms.Need.Mem, terms.AutoMem, terms.NodeMem = 2<<30, true, benchNode.Mem
		w.step(step.Submit{Work: job.Work{ID: "bag-1", Kind: job.Bag, Tasks: tasks, Terms: terms, Alloc: shape}})
		for i := range 25 {
			w.step(step.NodeUp{NodeJoined: event.NodeJoined{Node: job.AllocID("a1").Node(i), Capacity: shape.PerNode}})
		}
		for i := 0; len(w.running) > 0; i++ {
			at := w.running[0]
			w.running = w.running[1:]
			stats := []job.PhaseStat{{Phase: job.PhaseCompute, End: 1e9, PeakMemory: 900<<20 + int64(i*7919%(100<<20))}}
			w.step(step.AttemptEnded{AttemptEnded: event.AttemptEnded{Attempt: at, Outcome: event.Done, Stats: stats}})
		}
	}
	b.ReportMetric(float64(tasks)*float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}
