package plant

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/trace/code"
)

// Session is one program with all that it starts. The counters of a function are the same in all of them.
type Session struct {
	planter *Planter
	options Options
	memory  *memory
	traced  bool

	mu       sync.Mutex
	parts    map[string]*part // by build-id
	left     map[code.Reason]int
	images   int               // programs that were planted
	why      string            // a program was left alone
	objects  map[string]string // why objects were left out, by path
	standing time.Duration
	closed   bool
}

// part is what a session counts of an object.
type part struct {
	o        *object
	path     string
	chosen   []int    // indices of functions
	counters []uint64 // one for each of them
	planted  []bool   // each of them, in some program
	offset   int64    // of the counters, in the session's memory
}

// Function is a function that is counted.
type Function struct {
	Name, Object, BuildID string
	Entry, Hits           uint64
}

// Hits returns how often the functions that are counted were entered, in all programs of the session. It reads memory only.
func (s *Session) Hits() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum uint64
	if s.closed {
		return 0
	}
	for _, p := range s.parts {
		for i := range p.counters {
			sum += atomic.LoadUint64(&p.counters[i])
		}
	}
	return sum
}

// Functions returns all that are counted, those with most hits first.
func (s *Session) Functions() []Function {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Function
	if s.closed {
		return nil
	}
	for _, p := range s.parts {
		for i, n := range p.chosen {
			if !p.planted[i] {
				continue
			}
			f := &p.o.Functions[n]
			list = append(list, Function{Name: f.Name, Object: p.path, BuildID: p.o.BuildID, Entry: f.Entry,
				Hits: atomic.LoadUint64(&p.counters[i])})
		}
	}
	slices.SortFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Entry, b.Entry))
	})
	return list
}

// done notes what was planted in a program.
func (s *Session) done(regions []*region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images++
	for _, r := range regions {
		for _, t := range r.sites {
			r.p.planted[t.counter] = true
		}
	}
}

// Left returns how many functions are not counted, by reason.
func (s *Session) Left() map[code.Reason]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := map[code.Reason]int{}
	for why, n := range s.left {
		left[why] += n
	}
	for _, p := range s.parts {
		for _, planted := range p.planted {
			if !planted {
				left[notMade]++
			}
		}
	}
	return left
}

// Planted returns how many programs were planted, and for how long these stood still for it in all.
func (s *Session) Planted() (images int, standing time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.images, s.standing
}

// Err returns a *NotHere if no program of the session was planted, and one was left alone.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.images == 0 && s.why != "" {
		return &NotHere{Why: s.why}
	}
	return nil
}

// ObjectsLeft returns why objects were left out as a whole, by path.
func (s *Session) ObjectsLeft() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// Why returns why a program of the session was left alone, the last one if there are several; "" if none was.
func (s *Session) Why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Close gives the counters back. Programs that still run count on, unseen.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory != nil && !s.closed {
		s.memory.close()
	}
	s.closed = true
}

// refused notes why a program was left alone.
func (s *Session) refused(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

func (s *Session) took(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing += d
}

// part returns what the session counts of an object, and makes its counters when it meets it first.
func (s *Session) part(o *object, path string) (*part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.parts[o.BuildID]; p != nil {
		return p, nil
	}
	p := &part{o: o, path: path}
	for i := range o.Functions {
		f := &o.Functions[i]
		switch {
		case f.Displaced == 0:
		case s.options.Chosen != nil && !s.options.Chosen(o.BuildID, f.Entry):
			s.leave(notChosen, 1)
		default:
			p.chosen = append(p.chosen, i)
		}
	}
	if len(p.chosen) > 0 {
		var err error
		if p.counters, p.offset, err = s.memory.counters(len(p.chosen)); err != nil {
			return nil, err
		}
		p.planted = make([]bool, len(p.chosen))
	}
	for why, n := range o.Left {
		s.leave(why, n)
	}
	s.parts[o.BuildID] = p
	return p, nil
}

// Why functions that could be counted are not.
const (
	notChosen code.Reason = "entered too often to be counted"
	notMade   code.Reason = "its trampoline could not be made"
)

// leave notes functions that are not counted.
func (s *Session) leave(why code.Reason, n int) {
	if s.left == nil {
		s.left = map[code.Reason]int{}
	}
	s.left[why] += n
}
