package sim

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/core/job"
)

// server is the data server of rented machines. Transfers share its rate max-min fairly: each gets the rate that its machine
// can use, or an equal part of what the slower ones leave.
type server struct {
	w         *World
	rate      float64 // bytes/s
	transfers []*transfer
	at        float64  // seconds up to which the transfers have advanced
	changed   bool     // transfers began or ended at the present instant
	armed     job.Time // the instant of the pending check; 0: none is scheduled
}

// transfer moves the data of a task between a rented machine and the data server. The tasks of one machine share its own
// link equally.
type transfer struct {
	f     *Fixed
	most  float64 // rate that the machine can use
	left  float64 // seconds at that rate
	speed float64 // present part of that rate
}

// almost is what counts as rounding error of seconds of transfer.
const almost = 1e-6

// newServer returns the data server, or nil if there is none.
func newServer(w *World, c *Cloud) *server {
	if c == nil || c.Bytes <= 0 {
		return nil
	}
	s := &server{w: w, rate: c.Server}
	if c.Server <= 0 {
		s.rate = math.MaxFloat64
	}
	return s
}

// move transfers the data of a task, after which the task computes.
func (f *Fixed) move() {
	w := f.Worker.World()
	c, m := w.cfg.Cloud, f.Worker.rentedMachine
	t := &m.c.types[m.kind]
	cost := c.Bytes * c.Transfer
	m.c.spent += cost
	m.c.app.out.Cost += cost
	rate := t.Rate / float64(max(1, t.Slots))
	if rate <= 0 {
		rate = c.Server
	}
	if rate <= 0 {
		f.compute()
		return
	}
	f.moves = &transfer{f: f, most: rate, left: c.Bytes / rate}
	w.server.advance()
	w.server.transfers = append(w.server.transfers, f.moves)
}

// stop removes the remaining transfer from the server.
func (t *transfer) stop() {
	if t != nil {
		s := t.f.Worker.World().server
		s.advance()
		s.transfers = slices.DeleteFunc(s.transfers, func(o *transfer) bool { return o == t })
	}
}

// advance moves data up to the present instant. Transfers are about to change.
func (s *server) advance() {
	now := s.w.now.Sub(Epoch).Seconds()
	for _, t := range s.transfers {
		if t.left -= min(t.left, t.speed*(now-s.at)); t.left < almost {
			t.left = 0
		}
	}
	s.at, s.changed = now, true
}

// share gives out the rate anew after a change, and schedules a check at the end of the next transfer.
func (s *server) share() {
	if s == nil || !s.changed {
		return
	}
	s.changed = false
	equal := s.equal()
	next := math.Inf(1)
	for _, t := range s.transfers {
		t.speed = min(1, equal/t.most)
		next = min(next, s.at+t.left/t.speed)
	}
	if math.IsInf(next, 1) {
		return
	}
	at := max(Epoch+job.Time(math.Ceil(next*1000-almost))*milli, s.w.now)
	if s.armed == 0 || at < s.armed {
		s.armed = at
		s.w.At(at, func() { s.check(at) })
	}
}

// milli is a millisecond.
const milli = job.Time(1_000_000)

// equal returns the rate of the transfers whose machines could use more of it.
func (s *server) equal() float64 {
	left, n := s.rate, len(s.transfers)
	for _, t := range slices.SortedFunc(slices.Values(s.transfers), func(a, b *transfer) int { return cmp.Compare(a.most, b.most) }) {
		if t.most > left/float64(n) {
			return left / float64(n)
		}
		left, n = left-t.most, n-1
	}
	return math.Inf(1)
}

// check ends the transfers that are over. A check that was replaced by an earlier one does nothing.
func (s *server) check(at job.Time) {
	if s.armed != at {
		return
	}
	s.armed = 0
	s.advance()
	var ended []*transfer
	s.transfers = slices.DeleteFunc(s.transfers, func(t *transfer) bool {
		if t.left == 0 {
			ended = append(ended, t)
		}
		return t.left == 0
	})
	for _, t := range ended {
		t.f.moves = nil
		t.f.since = s.w.now
		t.f.compute()
	}
}
