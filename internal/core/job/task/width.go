package task

import (
	"maps"
	"slices"
)

// Width returns how many tasks can run at once where tasks come after others: the most of those that as many others in a row come before.
// ready is how many can start now. behind has the tasks that come after each task, and left, of each task that cannot start, how many tasks it
// comes after that are not done.
func Width(ready int, behind map[int32][]int32, left map[int32]int32) int {
	left = maps.Clone(left)
	var now []int32
	for _, i := range slices.Sorted(maps.Keys(behind)) {
		if left[i] == 0 {
			now = append(now, i)
		}
	}
	most := ready
	for len(now) > 0 {
		var next []int32
		for _, i := range now {
			for _, b := range behind[i] {
				if left[b]--; left[b] == 0 {
					next = append(next, b)
				}
			}
		}
		now, most = next, max(most, len(next))
	}
	return most
}
