package process

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestCoresSpreadOverPhysicalOnes(t *testing.T) {
	pairs := func(id int) string { return strconv.Itoa(id / 2) } // 0 and 1 are threads of one core, 2 and 3 of the next
	c := NewCores([]int{3, 2, 1, 0, 5, 4}, pairs)
	if got := c.Acquire(3); !slices.Equal(got, []int{0, 2, 4}) {
		t.Errorf("took %v", got)
	}
	if got := c.Acquire(2); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("then %v", got)
	}
	if got := c.Acquire(2); got != nil {
		t.Errorf("took %v of one", got)
	}
	c.Release([]int{2})
	if got := c.Acquire(1); !slices.Equal(got, []int{2}) {
		t.Errorf("took %v, want the one that came back", got)
	}
	if got := NewCores([]int{0, 1}, Siblings).Acquire(2); got != nil {
		t.Errorf("a task that wants all was bound to %v", got)
	}
	if got := NewCores(nil, Siblings).Acquire(1); got != nil {
		t.Errorf("without a share: %v", got)
	}
}

// No core is given to two tasks at once, and none is lost.
func TestCoresProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 12).Draw(t, "cores")
		ids := make([]int, total)
		for i := range ids {
			ids[i] = i
		}
		c := NewCores(ids, func(id int) string { return strconv.Itoa(id % 3) })
		var held [][]int
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			if len(held) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				c.Release(held[i])
				held = slices.Delete(held, i, i+1)
				continue
			}
			n := rapid.IntRange(0, total).Draw(t, "n")
			busy := slices.Concat(held...)
			got := c.Acquire(n)
			if want := n > 0 && n < total && n <= total-len(busy); (got != nil) != want {
				t.Fatalf("take(%d) with %v in use: got %v", n, busy, got)
			}
			for _, id := range got {
				if slices.Contains(busy, id) {
					t.Fatalf("core %d is given twice", id)
				}
			}
			if got != nil {
				held = append(held, got)
			}
		}
	})
}
