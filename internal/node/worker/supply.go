package worker

import (
	"sync"

	"berth/internal/mapreduce/extsort"
)

// supply is the memory and the open files with which the attempts of a worker sort and merge. An
// attempt gets what it was granted, or an equal share without a grant; there are as many shares as
// cores. If more attempts sort, later ones get what is left, and never less than a useful minimum.
// They do not wait for more: an attempt that has memory may itself wait for a grant that the
// coordinator gives only after others have ended.
type supply struct {
	share extsort.Means
	least extsort.Means

	mu   sync.Mutex
	free extsort.Means
}

const (
	// leastPart is the part of a share that is the least for an attempt: what is taken beyond the supply by
	// three attempts a core is within the quarter that is left (Config.buffers), of which the Go heap takes a fifth of the sort memory.
	leastPart = 48
	// leastMemory is the least for an attempt where shares are small, bytes.
	leastMemory = 512 << 10
	// leastFiles is how many files each attempt may merge at once.
	leastFiles = 8
)

func newSupply(c Config) *supply {
	cores := c.Capacity.CPUs
	s := &supply{free: extsort.Means{Memory: c.buffers(), Files: c.files()}}
	s.share = extsort.Means{Memory: s.free.Memory / int64(cores), Files: min(max(s.free.Files/cores, 2), extsort.MaxFanIn)}
	s.least = extsort.Means{Memory: max(s.share.Memory/leastPart, min(s.share.Memory, leastMemory)), Files: min(s.share.Files, leastFiles)}
	return s
}

// take takes the means of an attempt that was granted so many bytes of memory; 0: its share.
func (s *supply) take(granted int64) extsort.Means {
	want := s.share
	if granted > 0 {
		want.Memory = granted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := extsort.Means{
		Memory: max(min(want.Memory, s.free.Memory), s.least.Memory),
		Files:  max(min(want.Files, s.free.Files), s.least.Files),
	}
	s.free.Memory -= m.Memory
	s.free.Files -= m.Files
	return m
}

// give takes means back.
func (s *supply) give(m extsort.Means) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free.Memory += m.Memory
	s.free.Files += m.Files
}
