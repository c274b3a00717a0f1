package shuffle

import (
	"sync"

	"berth/internal/core/job"
)

// Locations is the list of a job's map outputs that the coordinator has reported to a node. The list
// grows, and each reduce of the job reads it at its own speed.
type Locations struct {
	mu   sync.Mutex
	list []Location
	last map[int]int                      // by map task: the index of its newest location
	more chan struct{}                    // closed when the list grows
	bad  map[int]map[job.Attempt]struct{} // by map task: outputs that were reported missing
}

// NewLocations returns an empty list.
func NewLocations() *Locations {
	return &Locations{more: make(chan struct{}), last: make(map[int]int), bad: make(map[int]map[job.Attempt]struct{})}
}

// Add adds a location. It returns the outputs that were reported missing and that this location replaces.
func (l *Locations) Add(loc Location) (replaced []job.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[loc.Map.Task] = len(l.list)
	l.list = append(l.list, loc)
	close(l.more)
	l.more = make(chan struct{})
	for at := range l.bad[loc.Map.Task] {
		replaced = append(replaced, at)
	}
	delete(l.bad, loc.Map.Task)
	return replaced
}

// missing records that an output is missing, and reports whether that is new.
func (l *Locations) missing(at job.Attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.bad[at.Task][at]; known {
		return false
	}
	if l.bad[at.Task] == nil {
		l.bad[at.Task] = make(map[job.Attempt]struct{})
	}
	l.bad[at.Task][at] = struct{}{}
	return true
}

// from returns the locations from the i-th, and a channel that is closed when there are more.
func (l *Locations) from(i int) ([]Location, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list[i:len(l.list):len(l.list)], l.more
}

// newest returns the newest location of a map task's output.
func (l *Locations) newest(task int) Location {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list[l.last[task]]
}
