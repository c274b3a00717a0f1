package worker

import (
	"sync"

	"berth/internal/job"
	"berth/internal/mapreduce"
	"berth/internal/wire"
)

// places is what the worker was told of where a job's map outputs are: a list
// that grows, which each of the job's reduces reads at its own pace.
type places struct {
	mu   sync.Mutex
	list []mapreduce.Location
	last map[int]int                      // by map task: its newest place in the list
	more chan struct{}                    // closed when the list grew
	bad  map[int]map[job.Attempt]struct{} // by map task: outputs that were reported missing
}

func newPlaces() *places {
	return &places{more: make(chan struct{}), last: make(map[int]int), bad: make(map[int]map[job.Attempt]struct{})}
}

// add takes a location, and returns the missing outputs whose place it takes.
func (p *places) add(m *wire.Locate) (replaced []job.Attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last[m.Map.Task] = len(p.list)
	p.list = append(p.list, mapreduce.Location{Map: m.Map, Holder: m.Holder, Addr: m.Addr, Outputs: m.Outputs})
	close(p.more)
	p.more = make(chan struct{})
	for at := range p.bad[m.Map.Task] {
		replaced = append(replaced, at)
	}
	delete(p.bad, m.Map.Task)
	return replaced
}

// missing notes that an output is missing, and says whether that is new.
func (p *places) missing(at job.Attempt) bool {
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
func (p *places) from(i int) ([]mapreduce.Location, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[i:len(p.list):len(p.list)], p.more
}

// newest returns the newest location of a map task's output.
func (p *places) newest(task int) mapreduce.Location {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[p.last[task]]
}
