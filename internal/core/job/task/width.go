package task

import (
	"maps"
	"slices"
)

// Extent returns how many tasks can run at once where tasks come after others, the most of those that as many others in a row come before,
// and how many at most come one after the other. ready is how many can start now. behind has the tasks that come after each task, and left, of
// each task that cannot start, how many tasks it comes after that are not done.
func Extent(ready int, behind map[int32][]int32, left map[int32]int32) (width, length int) {
	left = maps.Clone(left)
	var now []int32
	for _, i := range slices.Sorted(maps.Keys(behind)) {
		if left[i] == 0 {
			now = append(now, i)
		}
	}
	width, length = ready, min(ready, 1)
	for ; len(now) > 0; length++ {
		var next []int32
		for _, i := range now {
			for _, b := range behind[i] {
				if left[b]--; left[b] == 0 {
					next = append(next, b)
				}
			}
		}
		if now, width = next, max(width, len(next)); len(now) == 0 {
			break
		}
	}
	return width, length
}
