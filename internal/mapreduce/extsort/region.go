package extsort

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"berth/internal/job"
)

// minMemory is the least an attempt works with, bytes; what is allowed below it is
// taken as this much. It is so small that tests can force many spills and passes.
const minMemory = 8 << 10

// A region is memory outside the Go heap: the collector neither scans it nor lets
// the heap grow to twice its size, so what an attempt is allowed is what it takes.
// It lies on a page and is not cleared between uses.
type region []byte

// regionPool keeps regions between attempts, as fresh pages cost time to clear.
type regionPool struct {
	mu   sync.Mutex
	free []region
}

var regions regionPool

// FreeBuffers gives memory that is kept for later attempts back to the system.
func FreeBuffers() { regions.release() }

// get returns a region of n bytes, one that was used before if it is hardly larger, as
// attempts are given so many bytes and not more.
// If none fits, those kept are released first, so that the pool never adds to what
// the attempts of one moment need.
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
		p.free = append(p.free[:best], p.free[best+1:]...)
		p.mu.Unlock()
		return r[:n], nil
	}
	p.mu.Unlock()
	p.release()
	return mapRegion(n)
}

// put takes a region back.
func (p *regionPool) put(r region) {
	if r == nil {
		return
	}
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
		return nil, &job.Error{
			Class: job.Transient, What: fmt.Sprintf("cannot get %d bytes of memory for buffers", n),
			Do: "give the worker more memory, or less with --sort-memory", Err: err,
		}
	}
	adviseHuge(mem)
	return mem, nil
}

// adviseHuge asks for large pages: a sort jumps about in the whole region, and with
// pages of 4 KiB most jumps would miss the translation cache as well.
func adviseHuge(mem []byte) {
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE) // a kernel without them works as well, only slower
}

func unmapRegion(r region) {
	if r != nil {
		_ = unix.Munmap(r[:cap(r)]) // it was mapped by mapRegion, so this cannot fail
	}
}

// carver hands out parts of a region, which are given up together with it.
type carver struct {
	all  region
	rest []byte
}

// newCarver takes a region for an attempt that may use memory bytes.
func newCarver(memory int64) (*carver, error) {
	r, err := regions.get(max(memory, minMemory) &^ 7)
	if err != nil {
		return nil, err
	}
	return &carver{all: r, rest: r}, nil
}

// take cuts n bytes off, rounded up so that the next part is aligned too.
func (c *carver) take(n int) []byte {
	n = min((n+7)&^7, len(c.rest))
	part := c.rest[:n:n]
	c.rest = c.rest[n:]
	return part
}

// reset makes the whole region free again; parts handed out are void.
func (c *carver) reset() { c.rest = c.all }

// close gives the region back.
func (c *carver) close() {
	regions.put(c.all)
	c.all, c.rest = nil, nil
}
