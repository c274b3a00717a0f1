package shuffle

import (
	"sync"

	"berth/internal/job"
)

// Locations is what a node knows about where a job's map outputs are: a list
// that grows, which each of the job's reduces reads at its own pace.
type Locations struct {
	mu   sync.Mutex
	list []Location
	last map[int]int                      // by map task: index of its newest location
	more chan struct{}                    // closed when the list grew
	bad  map[int]map[job.Attempt]struct{} // by map task: outputs that were reported missing
}

// NewLocations returns an empty list.
func NewLocations() *Locations {
	return &Locations{more: make(chan struct{}), last: make(map[int]int), bad: make(map[int]map[job.Attempt]struct{})}
}

// Add takes a location, and returns the missing outputs that it replaces.
func (p *Locations) Add(loc Location) (replaced []job.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[loc.Map.Task] = len(p.list)
	p.list = append(p.list, loc)
	close(p.more)
	p.more = make(chan struct{})
	for at := range p.bad[loc.Map.Task] {
		replaced = append(replaced, at)
	}
	delete(p.bad, loc.Map.Task)
	return replaced
}

// missing notes that an output is missing, and says whether that is new.
func (p *Locations) missing(at job.Attempt) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.bad[at.Task][at]; known {
		return false
	}
	if p.bad[at.Task] == nil {
		p.bad[at.Task] = make(map[job.Attempt]struct{})
	}
	p.bad[at.Task][at] = struct{}{}
	return true
}

// from returns the locations from the i-th on, and what is closed when there are more.
func (p *Locations) from(i int) ([]Location, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[i:len(p.list):len(p.list)], p.more
}

// newest returns the newest location of a map task's output.
func (p *Locations) newest(task int) Location {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[p.last[task]]
}
