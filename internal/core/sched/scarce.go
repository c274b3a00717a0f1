package sched

import (
	"maps"
	"slices"

	"berth/internal/core/job"
)

// Scarce counts what attempts use of things of which all pools together may use only so much (job.Uses).
//
// What is free goes to whoever can start, with one exception, so that nobody waits for ever: for the first candidate in its pool's line that
// some node could run, and of whose things too little is free, what it needs is reserved as soon as it is free, until it starts. Only
// candidates that come before it may use that. While it waits for such a thing, no node is reserved for it.
type Scarce struct {
	limits   map[string]int
	used     map[string]int
	reserved map[string]*reservation
	changed  bool // what is reserved has changed since the last Review
}

// reservation says for which candidate a thing is reserved.
type reservation struct {
	of   *Candidate
	pool *Pool
}

// NewScarce returns a count of nothing.
func NewScarce() *Scarce {
	return &Scarce{used: make(map[string]int), reserved: make(map[string]*reservation)}
}

// SetLimits replaces how much may be used at once, by name. Of what has no limit nothing may be used.
func (s *Scarce) SetLimits(limits map[string]int) { s.limits = limits }

// Limit returns how much may be used of what has that name, and whether that is known.
func (s *Scarce) Limit(name string) (limit int, known bool) {
	limit, known = s.limits[name]
	return limit, known
}

// Used returns how much is used of what has that name.
func (s *Scarce) Used(name string) int { return s.used[name] }

// Take counts what an attempt uses that has started, and Return that it has ended.
func (s *Scarce) Take(t *Tasks, u job.Uses) {
	for name, n := range u.All() {
		s.used[name] += n
		if r := s.reserved[name]; r != nil && (r.of == &t.Begin || r.of == &t.Urgent) {
			delete(s.reserved, name)
		}
	}
}

func (s *Scarce) Return(u job.Uses) {
	for name, n := range u.All() {
		s.used[name] -= n
	}
}

// Short returns a name of which too little is free for a candidate, empty if there is none. What is reserved for another that comes before it
// is not free, unless the candidate is urgent. reserved says that there would be enough without that.
func (s *Scarce) Short(c *Candidate) (name string, reserved bool) {
	if s == nil || c.Uses == "" {
		return "", false
	}
	for name, n := range c.Uses.All() {
		free := s.limits[name] - s.used[name]
		if n > free {
			return name, false
		}
		if r := s.reserved[name]; r != nil && r.of != c && !c.Urgent && !c.before(r.of) && n > free-r.of.Uses.Of(name) {
			return name, true
		}
	}
	return "", false
}

// shortage reports whether too little is free for the group's first candidate, since others have started.
func (s *Scarce) shortage(g *Group) bool {
	if s == nil || g == nil || len(g.line) == 0 {
		return false
	}
	name, _ := s.Short(g.line[0])
	return name != ""
}

// reserve reserves what the first candidate of the group needs, where nothing is reserved for one that comes before it.
func (s *Scarce) reserve(p *Pool, g *Group, now job.Time) {
	c := g.line[0]
	if p.pass.holds || !s.possible(c.Uses) || !p.couldHold(g, now) {
		return
	}
	for name := range c.Uses.All() {
		if r := s.reserved[name]; r == nil || r.of != c && c.before(r.of) {
			s.reserved[name], s.changed = &reservation{c, p}, true
		}
	}
}

// Reserves reports whether anything is reserved.
func (s *Scarce) Reserves() bool { return len(s.reserved) > 0 }

// possible reports whether the limits allow that much.
func (s *Scarce) possible(u job.Uses) bool {
	for name, n := range u.All() {
		if n > s.limits[name] {
			return false
		}
	}
	return true
}

// Review drops what is reserved for candidates of the pool that no longer wait, or that no node could run any more. It reports whether what is
// reserved has changed since the last call: then other candidates may start, or need no node reserved any more.
func (s *Scarce) Review(p *Pool, now job.Time) (changed bool) {
	before := len(s.reserved)
	maps.DeleteFunc(s.reserved, func(name string, r *reservation) bool {
		return r.pool == p && (r.of.group == nil || r.of.Uses.Of(name) == 0 || !s.possible(r.of.Uses) || !p.couldHold(r.of.group, now))
	})
	s.changed = s.changed || len(s.reserved) < before
	changed, s.changed = s.changed, false
	return changed
}

// couldHold reports whether a node could run a task of the group once others have ended.
func (p *Pool) couldHold(g *Group, now job.Time) bool {
	return slices.ContainsFunc(p.Nodes, func(n *Node) bool { return p.canHold(g, n, now) })
}

// UsesScarce reports whether a candidate of the pool uses anything that is counted.
func (p *Pool) UsesScarce() bool {
	return slices.ContainsFunc(p.Groups, func(g *Group) bool { return g.Uses != "" })
}
