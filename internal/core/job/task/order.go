package task

import (
	"fmt"
	"slices"

	"berth/internal/core/job"
)

// Order returns for each task the ids of those that must be done before it, in ascending order. The first task gets the
// id first. known returns the id of a task that the bag has by its name.
func Order(from string, tasks []Spec, first int, known func(name string) (id int, ok bool)) ([][]int32, error) {
	named, err := names(from, tasks, first, known)
	if err != nil {
		return nil, err
	}
	after := make([][]int32, len(tasks))
	for i := range tasks {
		for _, r := range tasks[i].After {
			id := r.ID
			if r.Name != "" {
				var ok bool
				if id, ok = named[r.Name]; !ok {
					id, ok = known(r.Name)
				}
				if !ok {
					return nil, job.ConfigError(place(from, tasks[i].Line)+": after", fmt.Sprintf("the bag has no task named %q", r.Name),
						"add that task before or in the same call")
				}
			}
			if id >= first+len(tasks) {
				return nil, job.ConfigError(place(from, tasks[i].Line)+": after", fmt.Sprintf("the bag has no task with the id %d", id),
					"add that task before or in the same call")
			}
			after[i] = append(after[i], int32(id))
		}
		slices.Sort(after[i])
		after[i] = slices.Compact(after[i])
	}
	if i, found := circle(after, first); found {
		return nil, job.ConfigError(place(from, tasks[i].Line)+": after", "the task would have to be done before itself",
			"let one of the tasks in this circle come after fewer others")
	}
	return after, nil
}

// names returns the ids of the new tasks that have names. Each name must be new to the bag.
func names(from string, tasks []Spec, first int, known func(name string) (id int, ok bool)) (map[string]int, error) {
	named := make(map[string]int)
	for i := range tasks {
		name := tasks[i].Name
		if name == "" {
			continue
		}
		where := place(from, tasks[i].Line) + ": name"
		if other, twice := named[name]; twice {
			return nil, job.ConfigError(where, fmt.Sprintf("line %d has a task named %q too", tasks[other-first].Line, name), "give each task a name of its own")
		}
		if _, twice := known(name); twice {
			return nil, job.ConfigError(where, fmt.Sprintf("the bag has a task named %q already", name), "give each task a name of its own")
		}
		named[name] = first + i
	}
	return named, nil
}

// circle returns the first new task that would, directly or through others, come after itself.
func circle(after [][]int32, first int) (task int, found bool) {
	waits := make([]int, len(after)) // for how many new tasks each waits
	behind := make([][]int32, len(after))
	var ready []int32
	for i, list := range after {
		for _, id := range list {
			if at := int(id) - first; at >= 0 {
				waits[i]++
				behind[at] = append(behind[at], int32(i))
			}
		}
		if waits[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	left := len(after) - len(ready)
	for ; len(ready) > 0; ready = ready[1:] {
		for _, i := range behind[ready[0]] {
			if waits[i]--; waits[i] == 0 {
				ready = append(ready, i)
				left--
			}
		}
	}
	if left == 0 {
		return 0, false
	}
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 }) // it waits for a task in a circle, or is in one
	for seen := make([]bool, len(after)); !seen[at]; {
		seen[at] = true
		next := slices.IndexFunc(after[at], func(id int32) bool { return int(id) >= first && waits[int(id)-first] > 0 })
		at = int(after[at][next]) - first
	}
	return at, true
}
