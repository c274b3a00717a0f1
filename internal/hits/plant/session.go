package plant

import (
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/hits/code"
)

// Session is one program with all processes that it starts.
type Session struct {
	planter *Planter
	options Options
	memory  *memory
	traced  bool
	began   time.Time
	since   time.Time      // time of the last snapshot of the counters
	writing sync.WaitGroup // new objects that are being written to disk

	mu       sync.Mutex
	parts    map[partID]*part
	images   int               // number of planted programs
	why      string            // the reason why the last rejected program was not planted
	unseen   bool              // the program executed last was not planted
	objects  map[string]string // reasons why objects were not planted, by path
	standing time.Duration     // time for which programs were stopped
	spent    time.Duration     // processor time of planting them
	closed   bool
	changed  map[string]bool // build-ids of the programs that were changed; whether one is a launcher
}

// Hits returns how often the selected functions were entered since the program began, in all
// processes of the session. The values of several sessions of a program can be compared. ok is false
// if there is no such value: nothing is planted, the program executed last was not planted (then the
// others do not measure progress), or all functions of a program are counted because its statistics
// are unknown. After learnAfter the session knows the statistics itself.
func (s *Session) Hits() (n uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.unseen {
		return 0, false
	}
	if now := time.Now(); now.Sub(s.began) >= learnAfter && !s.since.IsZero() {
		s.learn()
	} else if s.since.IsZero() || now.Sub(s.since) >= lateFor {
		s.snapshot(now)
	}
	for id, p := range s.parts {
		skip := s.planter.known(id.program)
		if ok = skip != nil && !s.options.All; !ok {
			return 0, false
		}
		for i, f := range p.chosen {
			if !skip[functionID{id.object, p.o.Functions[f].Entry}] {
				n += atomic.LoadUint64(&p.counters[i])
			}
		}
	}
	return n, ok
}

// learnAfter is the run time of a program after which its counts show which functions are entered
// often.
const learnAfter = 10 * time.Second

// lateFor is the shortest time before learnAfter whose counts count as the last.
const lateFor = 3 * time.Second

// snapshot stores the counters of programs without statistics.
func (s *Session) snapshot(now time.Time) {
	s.since = now
	for id, p := range s.parts {
		if p.limited || s.planter.known(id.program) != nil {
			continue
		}
		p.seen = p.seen[:0]
		for i := range p.counters {
			p.seen = append(p.seen, atomic.LoadUint64(&p.counters[i]))
		}
	}
}

// learn keeps the statistics of programs that had none.
func (s *Session) learn() {
	if s.options.All {
		return
	}
	for id, all := range s.statistics() {
		s.planter.learn(id, all)
	}
}

// statistics returns the counts of the programs all of whose functions are counted, by build-id.
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

// Planted returns the number of planted programs, and the total time for which they were stopped.
func (s *Session) Planted() (images int, standing time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.images, s.standing
}

// Err returns why nothing is counted, if no program of the session was planted and one was rejected.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.images == 0 && s.why != "" {
		return errors.New("functions are not counted here: " + s.why)
	}
	return nil
}

// ObjectsLeft returns the reasons why objects were not planted, by path.
func (s *Session) ObjectsLeft() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// Why returns why a program of the session was not planted, the last one of several, or "".
func (s *Session) Why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}

// Close keeps the statistics if all functions were counted, and releases the counters. Programs that
// still run count on without effect.
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

// refused records why a program is not planted.
func (s *Session) refused(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why, s.unseen = why, true
}

// took records for how long a program was stopped, and the processor time of planting it.
func (s *Session) took(standing, spent time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing += standing
	s.spent += spent
}

// allowed is the processor time that planting the programs of a task may take, beyond one percent of
// its run time. The time for which the programs are stopped says less: on a busy node most of it is
// spent waiting for a core and for the files of the programs.
var allowed = time.Second / 2

// overspent reports whether planting took more. Exact counts have no such limit.
func (s *Session) overspent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.options.All && s.spent > allowed+time.Since(s.began)/100
}

// done records what was planted in a program.
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

// The reasons why functions that could be counted are not.
const (
	notChosen code.Reason = "entered too often to be counted"
	notMade   code.Reason = "its trampoline could not be made"
)
