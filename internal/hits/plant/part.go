package plant

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	"berth/internal/hits/code"
)

// part is the counters of a session for an object in a program. All processes of the program in the
// session share them.
type part struct {
	o        *object
	path     string
	program  string   // its path
	chosen   []int    // indices of functions
	counters []uint64 // one for each chosen function
	offset   int64    // of the counters in the session's memory
	planted  []bool   // for each chosen function: planted in some process
	catches  bool     // functions whose trampolines may fault are left out
	limited  bool     // some functions that could be counted are not chosen
	seen     []uint64 // the counters at Session.since
}

// partID identifies a part of a session by build-ids.
type partID struct{ program, object string }

// part returns the part of an object in a program, and creates its counters on the first call.
func (s *Session) part(in image, o *object, path string) (*part, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := partID{in.o.BuildID, o.BuildID}
	if p := s.parts[id]; p != nil {
		p.catches = p.catches || in.catches
		return p, nil
	}
	var skip selection
	if !s.options.All {
		skip = s.planter.selection(in.o.BuildID)
	}
	p := &part{o: o, path: path, program: in.path, limited: skip != nil, catches: in.catches}
	for i := range o.Functions {
		f := &o.Functions[i]
		if len(f.Original) > 0 && !skip[functionID{o.BuildID, f.Entry}] &&
			(s.options.Chosen == nil || s.options.Chosen(o.BuildID, f.Entry)) {
			p.chosen = append(p.chosen, i)
		}
	}
	if len(p.chosen) > 0 {
		var err error
		if p.counters, p.offset, err = s.memory.counters(len(p.chosen)); err != nil {
			return nil, err
		}
	}
	p.planted = make([]bool, len(p.chosen))
	s.parts[id] = p
	return p, nil
}

// hits returns the counts, and those since the last snapshot.
func (p *part) hits() *objectHits {
	o := &objectHits{Path: p.path, Hits: map[uint64]uint64{}, Late: map[uint64]uint64{}}
	for i, n := range p.chosen {
		if !p.planted[i] {
			continue
		}
		entry, now := p.o.Functions[n].Entry, atomic.LoadUint64(&p.counters[i])
		o.Hits[entry] = now
		if i < len(p.seen) && now > p.seen[i] {
			o.Late[entry] = now - p.seen[i]
		}
	}
	return o
}

// Function is a function that is counted.
type Function struct {
	Name, Object string
	Entry, Hits  uint64
}

// Functions returns all counted functions, those with most hits first.
func (s *Session) Functions() []*Function {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	counted := map[functionID]*Function{} // libraries are shared by programs
	for id, p := range s.parts {
		for i, n := range p.chosen {
			if !p.planted[i] {
				continue
			}
			f := &p.o.Functions[n]
			k := functionID{id.object, f.Entry}
			if counted[k] == nil {
				counted[k] = &Function{Name: f.Name, Object: p.path, Entry: f.Entry}
			}
			counted[k].Hits += atomic.LoadUint64(&p.counters[i])
		}
	}
	return slices.SortedFunc(maps.Values(counted), func(a, b *Function) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Entry, b.Entry))
	})
}

// Left returns the number of functions that are not counted, by reason.
func (s *Session) Left() map[code.Reason]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, seen := map[code.Reason]int{}, map[string]bool{}
	for id, p := range s.parts {
		if seen[id.object] {
			continue
		}
		seen[id.object] = true
		possible := 0
		for i := range p.o.Functions {
			if why := p.o.Functions[i].Reason; why != "" {
				left[why]++
			} else {
				possible++
			}
		}
		if n := possible - len(p.chosen); n > 0 {
			left[notChosen] += n
		}
		for i, planted := range p.planted {
			switch {
			case planted:
			case p.catches && p.o.Functions[p.chosen[i]].Faults:
				left[code.MayFault]++
			default:
				left[notMade]++
			}
		}
	}
	return left
}
