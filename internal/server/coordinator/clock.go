package coordinator

import (
	"reflect"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

const (
	// leastStep is by how much the wall clock must have been set for that to matter. Less is
	// how far two readings of clocks are apart, and how well the clocks of machines agree.
	leastStep = 2 * time.Second
	// mostAhead bounds how far records may be ahead of the wall clock for a new coordinator to go
	// on from their time. If they are further ahead, the clock was altogether wrong.
	mostAhead = 24 * time.Hour
)

// clock is the time by which the coordinator decides. It is the wall clock's when the
// coordinator begins, and then goes on whatever the wall clock is set to: a step of that by an
// hour neither ends what is waited for, a node that does not answer say, nor makes it last an hour
// longer. Batch systems and commands speak of the wall clock; see Server.bySteady.
type clock struct {
	from  job.Time
	since func() time.Duration // since the coordinator began, by a clock that nobody sets
	wall  func() job.Time
}

func newClock() clock {
	began := time.Now() // with a reading of the monotonic clock, by which Since goes
	return clock{from: job.TimeOf(began), since: func() time.Duration { return time.Since(began) }, wall: wallNow}
}

func wallNow() job.Time { return job.TimeOf(time.Now()) }

func (c *clock) now() job.Time { return c.from.Add(c.since()) }

// ahead returns by how much the wall clock is ahead of this one, 0 for next to nothing.
func (c *clock) ahead() time.Duration {
	d := c.wall().Sub(c.now())
	if d.Abs() < leastStep {
		return 0
	}
	return d.Round(time.Second)
}

// notBefore lets the clock go on from the time of the last record, where the wall clock was set
// back between two coordinators. Otherwise what an earlier record waits for would last longer.
func (c *clock) notBefore(last job.Time) {
	if back := last.Sub(c.now()); back > 0 && back < mostAhead {
		c.from = c.from.Add(back)
	}
}

// now returns the time by which the engine decides and records are stamped.
func (s *Server) now() job.Time { return s.clock.now() }

// moved returns a value with all times in it moved by so much, also those in what it points to, of which it has copies. 0 says that there is
// no such time, and stays.
func moved[T any](v T, by time.Duration) T {
	if by != 0 {
		move(reflect.ValueOf(&v).Elem(), by)
	}
	return v
}

func move(v reflect.Value, by time.Duration) {
	switch v.Kind() {
	case reflect.Int64:
		if v.Type() == reflect.TypeFor[job.Time]() && v.Int() != 0 {
			v.SetInt(v.Int() + int64(by))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				move(f, by)
			}
		}
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.Zero(v.Type()), v))
		for i := range v.Len() {
			move(v.Index(i), by)
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			of := reflect.New(v.Elem().Type())
			of.Elem().Set(v.Elem())
			move(of.Elem(), by)
			if v.Kind() == reflect.Interface {
				of = of.Elem()
			}
			v.Set(of)
		}
	}
}

// followWall takes in that the wall clock was set. The batch system ends allocations by that
// clock, so their ends move. It runs in the loop.
func (s *Server) followWall() {
	by := s.clock.ahead() - s.ahead
	if by.Abs() < leastStep {
		return
	}
	s.ahead += by
	s.log.Warn("the wall clock was set", "by", by)
	for _, a := range s.engine.Allocs() {
		if a.Ends != 0 {
			out, err := s.engine.Step(s.round.at, step.AllocUp{Alloc: a.ID, Ends: a.Ends.Add(-by)})
			s.collect(out)
			if err != nil {
				s.log.Warn("the end of an allocation is not moved", "alloc", a.ID, "err", err)
			}
		}
	}
}

// bySteady returns an input whose times are the coordinator's. Those that batch systems, plans
// and commands give are the wall clock's.
func (s *Server) bySteady(in step.Input) step.Input {
	switch in.(type) {
	case step.AllocUp, step.AllocNote, step.Planned, step.Submit, step.Resume, step.Set:
		return moved(in, -s.ahead)
	}
	return in
}
