package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// homesOn draws which hosts have the data of each task.
func homesOn(rng *rand.Rand, tasks, hosts, copies int) []job.DataHost {
	homes := make([]job.DataHost, hosts)
	for i := range homes {
		homes[i].Host = fmt.Sprint("node", i)
	}
	for t := range tasks {
		for range copies {
			h := &homes[rng.IntN(hosts)]
			if len(h.Tasks) == 0 || h.Tasks[len(h.Tasks)-1] != int32(t) {
				h.Tasks = append(h.Tasks, int32(t))
			}
		}
	}
	return homes
}

// TestReady: whatever is taken and added again, in whatever order, what is picked is ready, has its data on the host if a task that never
// started has, and each task is there as often as it should be.
func TestReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 150).Draw(t, "tasks")
		first := rapid.IntRange(0, 70).Draw(t, "first")
		var q Ready
		q.Extend(int32(first), int32(first+n-1))
		var homes []job.DataHost
		if first == 0 {
			homes = homesOn(rand.New(rand.NewPCG(1, 2)), n, 4, 2)
		}
		if rapid.Bool().Draw(t, "listed") { // other tasks of the job, of other needs, lie between them
			q = Ready{}
			for i := range n {
				q.Extend(int32(first+i), int32(first+i))
			}
		}
		q.Near(homes)
		fresh, again := make(map[int32]bool), make(map[int32]bool)
		for i := range n {
			fresh[int32(first+i)] = true
		}
		var taken []int32
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			if len(taken) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				i := rapid.IntRange(0, len(taken)-1).Draw(t, "which")
				q.Retry(taken[i], 0, false, nil)
				again[taken[i]] = true
				taken = slices.Delete(taken, i, i+1)
			} else if len(fresh)+len(again) > 0 {
				host := fmt.Sprint("node", rapid.IntRange(0, 4).Draw(t, "host"))
				task := int32(q.pickTask(false, host, nil))
				near := slices.IndexFunc(homes, func(h job.DataHost) bool { return h.Host == host })
				switch {
				case len(again) > 0 && !again[task]:
					t.Fatalf("%d is picked, which was not to be started again, with %v", task, again)
				case len(again) == 0 && !fresh[task]:
					t.Fatalf("%d is picked, which is not ready", task)
				case len(again) == 0 && near >= 0 && !slices.Contains(homes[near].Tasks, task) &&
					slices.ContainsFunc(homes[near].Tasks, func(t int32) bool { return fresh[t] }):
					t.Fatalf("%d is picked on %s, which has data of others", task, host)
				}
				q.Take(task)
				delete(again, task)
				delete(fresh, task)
				taken = append(taken, task)
			}
			if q.Count() != len(fresh)+len(again) {
				t.Fatalf("%d ready tasks are counted, there are %d and %d", q.Count(), len(fresh), len(again))
			}
		}
	})
}

// TestReadyReplays: a replay that takes the same tasks leaves the same ones.
func TestReadyReplays(t *testing.T) {
	homes := homesOn(rand.New(rand.NewPCG(3, 4)), 300, 5, 2)
	var live, replay Ready
	live.Extend(0, 299)
	replay.Extend(0, 299)
	live.Near(homes)
	replay.Near(homes)
	for i := range 200 {
		task := int32(live.pickTask(false, fmt.Sprint("node", i*i%5), nil))
		live.Take(task)
		replay.Take(task)
		if live.String() != replay.String() {
			t.Fatalf("%s\n%s", &live, &replay)
		}
	}
}

// BenchmarkReadyHomes starts a million tasks on 10,000 nodes; each node has the data of 300.
func BenchmarkReadyHomes(b *testing.B) {
	const tasks, hosts = 1_000_000, 10_000
	homes := homesOn(rand.New(rand.NewPCG(5, 6)), tasks, hosts, 3)
	names := make([]string, hosts)
	for i := range names {
		names[i] = homes[i].Host
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var q Ready
	for i := range b.N {
		if i%tasks == 0 {
			q = Ready{}
			q.Extend(0, tasks-1)
			q.Near(homes)
		}
		q.Take(int32(q.pickTask(false, names[rng.IntN(hosts)], nil)))
	}
}

// TestReadyExtend: tasks that others of other needs lie between are started in order, whatever was started before some were added.
func TestReadyExtend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Ready
		var want []int32
		next := int32(0)
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			if len(want) > 0 && rapid.Bool().Draw(t, "take") {
				i := rapid.IntRange(0, min(len(want)-1, 3)).Draw(t, "which")
				q.Take(want[i])
				want = slices.Delete(want, i, i+1)
			} else {
				next += int32(rapid.IntRange(0, 3).Draw(t, "others"))
				first := next
				for range rapid.IntRange(1, 9).Draw(t, "own") {
					want = append(want, next)
					next++
				}
				q.Extend(first, next-1)
			}
			if q.Count() != len(want) || len(want) > 0 && q.First() != want[0] {
				t.Fatalf("%d ready from %d on, want %v", q.Count(), q.First(), want)
			}
		}
		for _, task := range want {
			if got := int32(q.pickTask(false, "", nil)); got != task {
				t.Fatalf("%d starts, want %d", got, task)
			}
			q.Take(task)
		}
	})
}
