package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// world is a cluster with a queue and a bag and no other events: requests start when predicted, and plans are made
// again when wall time ends, as a coordinator would. It knows the duration of each task; the plans do not.
type world struct {
	snap  cluster.Snapshot
	tasks []float64 // seconds
	q     Question
}

// worlds returns n worlds of 16 nodes of 4 cores, whose jobs end within two hours.
func worlds(n int) []*world {
	var out []*world
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		w := &world{q: bagOf(20+rng.IntN(400), 5, rng)}
		has := job.Resources{CPUs: 4, Mem: 16 << 30}
		queue := &cluster.Queue{User: "me", Grain: time.Minute, Partitions: []cluster.Partition{{Name: "main", Default: true, MaxTime: 4 * time.Hour}}}
		w.snap = cluster.Snapshot{Driver: "slurm", At: begin, Queue: queue}
		for k := range 16 {
			queue.Partitions[0].Nodes = append(queue.Partitions[0].Nodes, k)
			w.snap.Nodes = append(w.snap.Nodes, cluster.Node{Name: fmt.Sprint("n", k), Capacity: has, Free: has})
			if rng.IntN(4) > 0 {
				w.snap.Nodes[k].Free = job.Resources{}
				queue.Running = append(queue.Running, cluster.Queued{ID: fmt.Sprint(k), Partition: "main", Nodes: []int{k}, Count: 1, PerNode: has,
					Start: begin, Limit: time.Duration(5+rng.IntN(115)) * time.Minute})
			}
		}
		for k := range rng.IntN(6) {
			queue.Pending = append(queue.Pending, cluster.Queued{ID: fmt.Sprint(100 + k), Partition: "main", Count: 1 + rng.IntN(12), PerNode: has,
				Limit: time.Duration(10+rng.IntN(110)) * time.Minute})
		}
		w.q.Snap = w.snap
		for range w.q.Counts.Tasks {
			w.tasks = append(w.tasks, 60*(1+8*rng.Float64()))
		}
		out = append(out, w)
	}
	return out
}

// asker returns the requests at a time, in seconds from the beginning, for the tasks that are left, with the present
// allocations.
type asker func(w *world, now float64, left int, there []job.Live, measured *predict.Profile) (asked []job.AllocRequest, scout int, expect float64)

// planned makes the requests of Decide.
func planned(request job.Request, profile bool) asker {
	return func(w *world, now float64, left int, there []job.Live, measured *predict.Profile) ([]job.AllocRequest, int, float64) {
		q, spec := w.q, *w.q.Spec
		spec.Request = request
		q.Spec, q.Now, q.Measured = &spec, begin.Add(time.Duration(now*float64(time.Second))), measured
		if !profile {
			q.Profile = nil
		}
		if left < len(w.tasks) || now > 0 {
			q.Remaining = &job.Remaining{Tasks: left, Live: there}
			queue := *q.Snap.Queue // which shows the bag's own allocations, too
			queue.Pending = queue.Pending[:len(queue.Pending):len(queue.Pending)]
			for _, l := range there {
				queue.Pending = append(queue.Pending, cluster.Queued{User: "me", Partition: "main", Count: l.Request.Nodes, PerNode: job.Resources{CPUs: 4},
					Start: l.Start, Limit: l.Request.Time})
			}
			q.Snap.Queue = &queue
		}
		p, err := Decide(q)
		if err != nil {
			panic(err)
		}
		return p.Requests(), p.Scout, p.TaskTime.Seconds()
	}
}

// fixed always makes the same request: a number of whole nodes for a time.
func fixed(nodes func(w *world) int, t func(w *world) time.Duration) asker {
	return func(w *world, now float64, _ int, _ []job.Live, _ *predict.Profile) ([]job.AllocRequest, int, float64) {
		at := begin.Add(time.Duration(now * float64(time.Second)))
		line, _ := w.snap.Timeline(cluster.View{PerNode: job.Resources{CPUs: 4}})
		r := job.AllocRequest{Nodes: min(nodes(w), 16), PerNode: job.Resources{CPUs: 4}, Time: t(w).Truncate(time.Minute) + time.Minute}
		r.Start, _ = line.EarliestFit(at, r.Nodes, r.Time)
		return []job.AllocRequest{r}, 0, 0
	}
}

// run returns the turnaround of the bag in seconds.
func (w *world) run(ask asker) float64 {
	left, now := w.tasks, 0.0
	var there []job.Live
	var measured *predict.Profile
	for range 50 {
		asked, scout, expect := ask(w, now, len(left), there, measured)
		for _, r := range asked {
			there = append(there, job.Live{Request: r, Start: r.Start, Ends: r.Start.Add(r.Time)})
		}
		if scout > 0 {
			done := play(left[:scout], now, there, 0)
			measured = &predict.Profile{}
			var c predict.Collector
			for _, seconds := range left[:scout] {
				c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(seconds * float64(time.Second))}})
			}
			measured.AddRun(predict.Size{Kind: job.Bag, Tasks: len(w.tasks)}, 0, c.Measures())
			if !math.IsInf(done.Finish[0], 1) {
				left, now = left[scout:], done.Finish[0]
				continue
			}
		}
		done := play(left, now, there, expect)
		if done.Left == 0 {
			return done.Finish[0]
		}
		left = left[len(left)-int(done.Left):]
		for _, l := range there {
			now = max(now, l.Ends.Sub(begin).Seconds())
		}
		there = nil
	}
	return math.Inf(1)
}

// play runs tasks on allocations from a time on.
func play(tasks []float64, now float64, there []job.Live, expect float64) predict.Outcome {
	var windows []predict.Window
	for _, l := range there {
		windows = append(windows, predict.Window{Start: max(now, l.Start.Sub(begin).Seconds()+usualStartUp), End: l.Ends.Sub(begin).Seconds(),
			TaskSlots: l.Request.Nodes * l.Request.PerNode.CPUs})
	}
	load := predict.Load{Maps: len(tasks)}
	trials := predict.GivenTrials(load, predict.Expected{Map: expect}, predict.Trial{Maps: predict.NewSeries(tasks)})
	done, _, _ := trials.RunWithin(windows, nil, math.Inf(1))
	return done
}

// Requests of users without berth: nodes and time.
func whole(*world) int               { return 16 }
func one(*world) int                 { return 1 }
func byTasks(w *world) int           { return len(w.tasks) }
func bySlots(w *world) int           { return ceilDiv(len(w.tasks), 4) }
func longest(*world) time.Duration   { return 4*time.Hour - time.Minute }
func byLongest(*world) time.Duration { return time.Duration(1.5 * 9 * float64(time.Minute)) }

// ways are the strategies that are compared. Those of a user without berth come last.
var ways = []struct {
	name string
	ask  asker
}{
	{"berth", planned(job.Request{}, true)},
	{"one-allocation", planned(job.Request{MaxAllocs: 1}, true)},
	{"upper-bound", planned(job.Request{MaxAllocs: 1, WallTime: job.WallUpper}, true)},
	{"longest-time", planned(job.Request{MaxAllocs: 1, WallTime: job.WallMax}, true)},
	{scouting, planned(job.Request{}, false)},
	{"unknown-no-scout", planned(job.Request{NoScout: true}, false)},
	{"whole-cluster", fixed(whole, longest)},
	{"one-node", fixed(one, longest)},
	{"nodes-as-tasks", fixed(byTasks, longest)},
	{"nodes-as-slots", fixed(bySlots, longest)},
	{"longest-task", fixed(bySlots, byLongest)},
}

// BenchmarkWays prints the mean turnaround of each way over random queues: where all
// jobs last as long as their limits, and, for ways without a scout, where they end before.
func BenchmarkWays(b *testing.B) {
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			const bags = 100
			limits, early := 0.0, 0.0
			for b.Loop() {
				limits, early = 0, 0
				for i, w := range worlds(bags) {
					limits += w.run(way.ask) / bags
					if way.name != scouting {
						early += w.runEarly(way.ask, uint64(i)) / bags
					}
				}
			}
			b.ReportMetric(limits, "turnaround-s")
			if way.name != scouting {
				b.ReportMetric(early, "early-s")
			}
		})
	}
}

// scouting is the way whose first plan is followed by another.
const scouting = "unknown-scout"

// TestEachWayHelps: over random queues, several allocations, a tight time and a scout each shorten the mean
// turnaround, and no fixed request is shorter for any of the bags by more than a tenth.
func TestEachWayHelps(t *testing.T) {
	const bags = 16
	mean := map[string]float64{}
	best := make([]float64, bags) // without berth
	mine := make([]float64, bags)
	for _, way := range ways {
		for i, w := range worlds(bags) {
			got := w.run(way.ask)
			mean[way.name] += got / bags
			switch _, isFixed := fixedWays[way.name]; {
			case way.name == "berth":
				mine[i] = got
			case isFixed && (best[i] == 0 || got < best[i]):
				best[i] = got
			}
		}
	}
	for _, less := range [][2]string{
		{"berth", "one-allocation"}, {"one-allocation", "upper-bound"}, {"upper-bound", "longest-time"}, {"longest-time", "whole-cluster"},
		{scouting, "unknown-no-scout"},
	} {
		if mean[less[0]] >= mean[less[1]] {
			t.Errorf("%s: %.0f s on average; %s: %.0f s", less[0], mean[less[0]], less[1], mean[less[1]])
		}
	}
	for i := range best {
		if mine[i] > 1.1*best[i] {
			t.Errorf("bag %d: %.0f s, but %.0f s without berth", i, mine[i], best[i])
		}
	}
}

// fixedWays are the ways to ask without berth.
var fixedWays = map[string]bool{"whole-cluster": true, "one-node": true, "nodes-as-tasks": true, "nodes-as-slots": true, "longest-task": true}
