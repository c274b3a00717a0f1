package task

import "testing"

// TestExtent: tasks in a chain run one at a time, and of a graph as many as are equally far from its start.
func TestExtent(t *testing.T) {
	for _, c := range []struct {
		name  string
		tasks int
		after map[int32][]int32
		want  int
		long  int
	}{
		{"none comes after another", 7, nil, 7, 1},
		{"a chain", 4, map[int32][]int32{1: {0}, 2: {1}, 3: {2}}, 1, 4},
		{"a chain that is not in order", 3, map[int32][]int32{0: {2}, 1: {0}}, 1, 3},
		{"two chains", 4, map[int32][]int32{1: {0}, 3: {2}}, 2, 2},
		{"a fan", 5, map[int32][]int32{1: {0}, 2: {0}, 3: {0}, 4: {1, 2, 3}}, 3, 3},
		{"a long and a short way", 4, map[int32][]int32{1: {0}, 2: {1}, 3: {0, 2}}, 1, 4},
	} {
		behind, left := map[int32][]int32{}, map[int32]int32{}
		for i, before := range c.after {
			for _, b := range before {
				behind[b], left[i] = append(behind[b], i), left[i]+1
			}
		}
		if got, long := Extent(c.tasks-len(left), behind, left); got != c.want || long != c.long {
			t.Errorf("%s: %d at once and %d in a row, want %d and %d", c.name, got, long, c.want, c.long)
		}
	}
}
