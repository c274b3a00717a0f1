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

// Cores assigns cores of the worker's share to tasks, so that each task has cores of its own.
type Cores struct {
	mu    sync.Mutex
	order []int // ids, in the order in which they are assigned
	used  map[int]bool
}

// NewCores creates a set of cores. Two threads of one physical core are slower than threads of two
// cores, so every physical core is assigned once before any is assigned twice.
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
	return &Cores{order: order, used: make(map[int]bool)}
}

// Siblings identifies the physical core to which a logical core belongs, or returns "" if that is
// unknown (sysfs, Documentation/ABI: thread_siblings_list).
func Siblings(id int) string {
	b, err := os.ReadFile(filepath.Join("/sys/devices/system/cpu", "cpu"+strconv.Itoa(id), "topology", "thread_siblings_list"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Acquire returns n cores. It returns nil if a task cannot have cores of its own: the worker has no
// share, the task needs the whole share, or not enough cores are free.
func (c *Cores) Acquire(n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n <= 0 || n >= len(c.order) || n > len(c.order)-len(c.used) {
		return nil
	}
	got := make([]int, 0, n)
	for _, id := range c.order {
		if !c.used[id] && len(got) < n {
			c.used[id] = true
			got = append(got, id)
		}
	}
	return got
}

// Release returns cores to the set.
func (c *Cores) Release(back []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range back {
		delete(c.used, id)
	}
}
