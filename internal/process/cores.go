package process

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Cores hands out the cores of the worker's share, so that each task has its own.
type Cores struct {
	mu    sync.Mutex
	order []int // ids, those to be taken first before others
	used  []bool
	free  int
}

// NewCores makes a share of cores. Threads of one physical core are slower
// together than apart, so each physical core is given once before any is twice.
func NewCores(ids []int, siblings func(id int) string) *Cores {
	rank, seen := make(map[int]int), make(map[string]int)
	for _, id := range slices.Sorted(slices.Values(ids)) {
		if group := siblings(id); group != "" {
			rank[id] = seen[group]
			seen[group]++
		}
	}
	order := slices.Clone(ids)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b)) })
	return &Cores{order: order, used: make([]bool, len(order)), free: len(order)}
}

// Siblings names the physical core that a core is a thread of; empty where that
// is not known (sysfs, Documentation/ABI: thread_siblings_list).
func Siblings(id int) string {
	b, err := os.ReadFile(filepath.Join("/sys/devices/system/cpu", "cpu"+strconv.Itoa(id), "topology", "thread_siblings_list"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Take returns n cores, or none where a task cannot have cores of its own: the
// worker has no share, the task wants all of it, or not enough are free.
func (c *Cores) Take(n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n <= 0 || n >= len(c.order) || n > c.free {
		return nil
	}
	got := make([]int, 0, n)
	for i := 0; len(got) < n; i++ {
		if !c.used[i] {
			c.used[i] = true
			got = append(got, c.order[i])
		}
	}
	c.free -= n
	return got
}

// Give takes cores back.
func (c *Cores) Give(back []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range back {
		c.used[slices.Index(c.order, id)] = false
	}
	c.free += len(back)
}
