package sched

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestNearStarted: a host gets a task whose data it has; if there is none, one whose data no host has; if there is none either, the next in line.
// Each task starts once, and after a replay of the starts the same tasks are picked.
func TestNearStarted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 60).Draw(t, "files") // that the tasks read; 0: none that others read
		data := make([]job.DataHost, 5)
		for task, f := range files {
			if f > 0 {
				data[f-1].Tasks = append(data[f-1].Tasks, int32(task))
			}
		}
		var live, replay Ready
		live.Extend(0, int32(len(files)-1))
		replay.Extend(0, int32(len(files)-1))
		live.Near(data)
		replay.Near(data)
		has := make(map[string]map[int]bool)
		fresh := make([]bool, len(files))
		for i := range fresh {
			fresh[i] = true
		}
		// waits returns whether a task that never started reads a file like that.
		waits := func(is func(f int) bool) bool {
			for i, f := range files {
				if fresh[i] && f > 0 && is(f) {
					return true
				}
			}
			return false
		}
		held := func(f int) bool {
			for _, h := range has {
				if h[f] {
					return true
				}
			}
			return false
		}
		for range files {
			host := fmt.Sprint("h", rapid.IntRange(0, 3).Draw(t, "host"))
			task := int32(live.pickTask(false, host, nil))
			if rapid.Bool().Draw(t, "restart") {
				if after := int32(replay.pickTask(false, host, nil)); after != task {
					t.Fatalf("%d starts on %s, and %d after a replay", task, host, after)
				}
			}
			f := files[task]
			switch {
			case !fresh[task]:
				t.Fatalf("task %d starts again", task)
			case waits(func(f int) bool { return has[host][f] }):
				if !has[host][f] {
					t.Fatalf("%d starts on %s, which has files of others", task, host)
				}
			case waits(func(f int) bool { return !held(f) }):
				if f == 0 || held(f) {
					t.Fatalf("%d starts on %s, and there are files that no host has", task, host)
				}
			case int(task) != slices.Index(fresh, true):
				t.Fatalf("%d starts on %s before its turn", task, host)
			}
			for _, q := range []*Ready{&live, &replay} {
				q.Take(task)
				q.Started(host, task)
			}
			fresh[task] = false
			if has[host] == nil {
				has[host] = make(map[int]bool)
			}
			has[host][f] = true
		}
	})
}
