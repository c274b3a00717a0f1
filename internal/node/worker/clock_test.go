package worker

import (
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// TestCoordinatorsTime: the phases of an attempt are stamped by the time of the coordinator that started it, however far that is from this
// machine's. If the next coordinator has another time, no phase of an attempt that runs takes hours for that.
func TestCoordinatorsTime(t *testing.T) {
	c := newCoord(t)
	c.ahead = -30 * time.Hour
	began := time.Now()
	p, _ := c.worker(c.config("a1/0"))
	s := shell(t, `echo > ready; read x < go`)
	ready, goOn := fifo(t, s.Dir, "ready"), fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "a"))
	hear(t, ready)
	c.ahead = 5 * time.Hour
	_ = p.conn.Close()
	p = c.welcome()
	release(t, goOn)
	expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: try(s.ID, 0, 1)})
	byItsOwn(t, p.ended(event.Done), began.Add(-30*time.Hour))
	p.job(shell(t, "true"), 0, 0)
	p.say(start(try(s.ID, 1, 1), "b"))
	byItsOwn(t, p.ended(event.Done), began.Add(5*time.Hour))
}

// byItsOwn checks that the phases of an attempt are stamped by the time of a coordinator that said at the begin of the test that it was then.
func byItsOwn(t *testing.T, m wire.Ended, then time.Time) {
	t.Helper()
	if len(m.Stats) == 0 {
		t.Fatal("no phase is measured")
	}
	for _, s := range m.Stats {
		early, late := job.Time(then.UnixNano()).Sub(s.Start), s.End.Sub(job.Time(then.Add(patience+time.Hour).UnixNano()))
		if early > leastApart || late > 0 {
			t.Errorf("%v went from %v to %v, by a clock that showed %v when the test began", s.Phase, s.Start.Std(), s.End.Std(), then)
		}
	}
}
