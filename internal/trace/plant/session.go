package plant

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/trace/code"
)

// Session is one program with all that it starts.
type Session struct {
	planter *Planter
	options Options
	memory  *memory
	traced  bool
	began   time.Time
	since   time.Time      // of the counters that were looked at last
	writing sync.WaitGroup // objects that it was the first to meet, to disk

	mu       sync.Mutex
	parts    map[partID]*part
	images   int               // programs that were planted
	why      string            // a program was left alone
	unseen   bool              // that was the last one that was executed
	objects  map[string]string // why objects were left out, by path
	standing time.Duration
	closed   bool
}

// Hits returns how often the functions that are selected were entered since the program began, in all processes of
// the session. The figures of several sessions of a program can be compared. ok is false while there is none:
// nothing is planted, the program that was executed last was left alone, as then the others tell no progress, or all functions of a
// program are counted as nothing is known of it. After learnAfter the session knows enough itself.
func (s *Session) Hits() (n uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.unseen {
		return 0, false
	}
	if now := time.Now(); now.Sub(s.began) >= learnAfter && !s.since.IsZero() {
		s.learn()
	} else if s.since.IsZero() || now.Sub(s.since) >= lateFor {
		s.look(now)
	}
	for id, p := range s.parts {
		if p.choose(s, id); p.selected == nil {
			return 0, false
		}
		ok = true
		for i := range p.counters {
			if p.selected[i] {
				n += atomic.LoadUint64(&p.counters[i])
			}
		}
	}
	return n, ok
}

// Count returns how often all functions that are counted were entered.
func (s *Session) Count() (n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	for _, p := range s.parts {
		for i := range p.counters {
			n += atomic.LoadUint64(&p.counters[i])
		}
	}
	return n
}

// learnAfter is how long a program runs until what was counted in it says which of its functions are entered often.
const learnAfter = 10 * time.Second

// lateFor is how long the time is at least that counts as the last before that.
const lateFor = 3 * time.Second

// look remembers how far counters are, of programs of which nothing is known.
func (s *Session) look(now time.Time) {
	s.since = now
	for _, p := range s.parts {
		if p.limited || p.selected != nil {
			continue
		}
		p.seen = p.seen[:0]
		for i := range p.counters {
			p.seen = append(p.seen, atomic.LoadUint64(&p.counters[i]))
		}
	}
}

// learn keeps what the session has counted of programs of which nothing was known.
func (s *Session) learn() {
	if s.options.All {
		return
	}
	for id, all := range s.statistics() {
		s.planter.learn(id, all)
	}
}

// statistics returns what was counted of programs all of whose functions are counted, by build-id.
func (s *Session) statistics() map[string]*statistics {
	by := map[string]*statistics{}
	for id, p := range s.parts {
		if p.limited || s.options.Chosen != nil {
			continue
		}
		if by[id.program] == nil {
			by[id.program] = &statistics{Program: p.program, Objects: map[string]*objectHits{}}
		}
		by[id.program].Objects[id.object] = p.hits()
	}
	return by
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

// Close keeps what was counted where all was, and gives the counters back. Programs that still run count on, unseen.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.options.All {
		for id, all := range s.statistics() {
			s.planter.addStatistics(id, all)
		}
	}
	s.learn()
	s.writing.Wait()
	if s.memory != nil {
		s.memory.close()
	}
}

// refused notes why a program was left alone.
func (s *Session) refused(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why, s.unseen = why, true
}

func (s *Session) took(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing += d
}

// allowed is for how long the programs of a task may stand still, beyond a hundredth of the time that it runs.
var allowed = time.Second / 2

// overspent reports whether they have stood still for longer. Where exact counts are wanted there is no such limit.
func (s *Session) overspent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.options.All && s.standing > allowed+time.Since(s.began)/100
}

// done notes what was planted in a program.
func (s *Session) done(regions []*region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images++
	s.unseen = false
	for _, r := range regions {
		for _, t := range r.sites {
			r.p.planted[t.counter] = true
		}
	}
}

// Why functions that could be counted are not.
const (
	notChosen code.Reason = "entered too often to be counted"
	notMade   code.Reason = "its trampoline could not be made"
)
