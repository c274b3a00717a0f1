package sample

import "math/rand/v2"

const (
	// Size is the number of tried tasks: a mean over thirty is nearly normal for any distribution.
	Size = 30
	// Replicated is how many of them are tried on every type.
	Replicated = 7
)

// Deal returns the randomly drawn tasks that are tried on each type. With twice, tasks may run more than once: Size
// tasks are tried, the first Replicated of each type's list are the same for all types, and the others are dealt in
// turn. Otherwise each type tries Size tasks of its own. Lists are shorter where there are too few tasks.
func Deal(rng *rand.Rand, tasks, types int, twice bool) [][]int {
	size, same := Size*types, 0
	if twice {
		size, same = Size, min(Replicated, tasks)
	}
	drawn := rng.Perm(tasks)[:min(size, tasks)]
	lists := make([][]int, types)
	for t := range lists {
		lists[t] = append(lists[t], drawn[:same]...)
	}
	for i, task := range drawn[same:] {
		lists[i%types] = append(lists[i%types], task)
	}
	return lists
}
