package shuffle

import "sync"

// Locations is the list of a job's map outputs that the coordinator has reported to a node. The list
// grows, and each reduce of the job reads it at its own speed.
type Locations struct {
	mu   sync.Mutex
	list []Location
	last map[int]int   // by map task: the index of its newest location
	more chan struct{} // closed when the list grows
}

// NewLocations returns an empty list.
func NewLocations() *Locations {
	return &Locations{more: make(chan struct{}), last: make(map[int]int)}
}

// Add adds a location.
func (l *Locations) Add(loc Location) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[loc.Attempt.Task] = len(l.list)
	l.list = append(l.list, loc)
	close(l.more)
	l.more = make(chan struct{})
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
