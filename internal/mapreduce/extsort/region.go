package extsort

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// minMemory is the smallest memory of an attempt, in bytes. A smaller allowance is raised to it. It
// is so small that tests can force many spills and passes.
const minMemory = 8 << 10

// region is memory outside the Go heap. The garbage collector does not scan it, and the heap does
// not grow to twice its size because of it. So an attempt uses only the memory that it is allowed.
// A region begins at a page and is not cleared between uses.
type region []byte

// regionPool keeps regions for later attempts, as the kernel needs time to clear new pages.
type regionPool struct {
	mu   sync.Mutex
	free []region
}

var regions regionPool

// FreeBuffers returns the memory that is kept for later attempts to the system.
func FreeBuffers() { regions.release() }

// get returns a region of n bytes. It reuses a kept region if that is at most an eighth larger, as an
// attempt must not use more than it is allowed. If none fits, all kept regions are released first.
// So the pool does not add to the memory that the running attempts need.
func (p *regionPool) get(n int64) (region, error) {
	p.mu.Lock()
	best := -1
	for i, r := range p.free {
		c := int64(cap(r))
		if c >= n && c <= n+n/8 && (best < 0 || c < int64(cap(p.free[best]))) {
			best = i
		}
	}
	if best >= 0 {
		r := p.free[best]
		p.free = slices.Delete(p.free, best, best+1)
		p.mu.Unlock()
		return r[:n], nil
	}
	p.mu.Unlock()
	p.release()
	return mapRegion(n)
}

// put keeps a region for a later attempt.
func (p *regionPool) put(r region) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, r[:cap(r)])
}

func (p *regionPool) release() {
	p.mu.Lock()
	free := p.free
	p.free = nil
	p.mu.Unlock()
	for _, r := range free {
		unmapRegion(r)
	}
}

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
	r, err := regions.get(max(memory, minMemory) &^ 7)
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

// close returns the region to the pool.
func (a *arena) close() {
	regions.put(a.all)
	a.all, a.rest = nil, nil
}
