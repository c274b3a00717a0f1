package extsort

import (
	"fmt"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// minMemory is the smallest memory of an attempt, in bytes. A smaller allowance is raised to it. It
// is so small that tests can force many spills and passes.
const minMemory = 8 << 10

// region is memory outside the Go heap. The garbage collector does not scan it, and the heap does
// not grow to twice its size because of it. So an attempt uses only the memory that it is allowed.
// A region begins at a page.
type region []byte

func mapRegion(n int64) (region, error) {
	mem, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, job.TransientError("", fmt.Sprintf("the system refused %d bytes of memory for buffers", n), err).Advice("ask for nodes with more memory, or lower --sort-memory")
	}
	// A sort accesses the whole region at random, and with pages of 4 KiB most accesses would also miss the translation
	// cache (TLB).
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // without large pages the sort is only slower
	return mem, nil
}

func unmapRegion(r region) {
	if r != nil {
		_ = unix.Munmap(r[:cap(r)]) // cannot fail, as mapRegion mapped the region
	}
}

// arena allocates parts of a region. All parts are freed together.
type arena struct {
	all  region
	rest []byte
}

// newArena returns the arena of an attempt that may use memory bytes.
func newArena(memory int64) (*arena, error) {
	r, err := mapRegion(max(memory, minMemory) &^ 7)
	if err != nil {
		return nil, err
	}
	return &arena{all: r, rest: r}, nil
}

// alloc returns the next n bytes. n is rounded up, so that the part behind is aligned too.
func (a *arena) alloc(n int) []byte {
	n = min((n+7)&^7, len(a.rest))
	part := a.rest[:n:n]
	a.rest = a.rest[n:]
	return part
}

// reset frees all parts. The caller must no longer use them.
func (a *arena) reset() { a.rest = a.all }

// close returns the region to the system.
func (a *arena) close() {
	unmapRegion(a.all)
	a.all, a.rest = nil, nil
}
