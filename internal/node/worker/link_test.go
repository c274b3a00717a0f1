package worker

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// recorder is a connection that notes what is sent.
type recorder struct {
	queued []wire.Message
	sent   []wire.Message
	closed bool
	fail   bool
}

func (r *recorder) Send(m ...wire.Message) error {
	return cmp.Or(r.Queue(m...), r.Flush())
}

func (r *recorder) Queue(m ...wire.Message) error {
	r.queued = append(r.queued, m...)
	return nil
}

func (r *recorder) Flush() error {
	if r.fail {
		return errors.New("broken")
	}
	r.sent, r.queued = append(r.sent, r.queued...), nil
	return nil
}

func (r *recorder) Recv() (wire.Message, error) { return nil, errors.New("nothing is said") }
func (r *recorder) Close() error                { r.closed = true; return nil }

func (r *recorder) kinds() (list []string) {
	for _, m := range r.sent {
		list = append(list, fmt.Sprintf("%T", m))
	}
	return list
}

// clock is moved by hand.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func TestLinkRepeatsWhatIsNotAcknowledged(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	l := newLink(c.now)
	for n := range 3 { // apart: kept
		l.keep(event.AttemptEnded{Attempt: try("bag-1", n, 1), Outcome: event.Done}, nil)
	}
	w := wish{wishCommit, try("bag-1", 7, 1)}
	l.want(w, wire.CommitWanted{Attempt: w.attempt})

	first := &recorder{}
	if _, err := l.welcome(first, c.t, time.Minute); err != nil {
		t.Fatal(err)
	}
	want := []string{"step.AttemptEnded", "step.AttemptEnded", "step.AttemptEnded", "step.CommitWanted"}
	if got := first.kinds(); !slices.Equal(got, want) {
		t.Errorf("said %v, want %v", got, want)
	}
	l.acknowledged(try("bag-1", 1, 1))
	l.fulfilled(w)
	l.apart()

	second := &recorder{}
	if _, err := l.welcome(second, c.t, time.Minute); err != nil {
		t.Fatal(err)
	}
	var ends []job.Attempt
	for _, m := range second.sent {
		ends = append(ends, m.(wire.Ended).Attempt)
	}
	if want := []job.Attempt{try("bag-1", 0, 1), try("bag-1", 2, 1)}; !slices.Equal(ends, want) {
		t.Errorf("said again %v, want %v", ends, want)
	}
	if got := l.unacknowledged(); !slices.Equal(got, ends) {
		t.Errorf("unacknowledged %v, want %v", got, ends)
	}
}

func TestLinkLease(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	l := newLink(c.now)
	if l.leaseLeft(0) > 0 {
		t.Error("without any permission")
	}
	hello := c.t
	c.t = c.t.Add(2 * time.Second) // the welcome took so long: the lease counts from the hello
	epoch, err := l.welcome(&recorder{}, hello, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, want bool) {
		t.Helper()
		if got := l.leaseLeft(epoch) > 0; got != want {
			t.Errorf("%s: may commit is %v, want %v", when, got, want)
		}
		if l.expired() == want {
			t.Errorf("%s: expired is %v", when, !want)
		}
	}
	c.t = hello.Add(9 * time.Second)
	check("within the lease", true)
	l.beat()
	c.t = hello.Add(10 * time.Second)
	check("at its end", false)
	l.answered() // the heartbeat was sent a second ago
	check("renewed", true)
	c.t = hello.Add(19 * time.Second)
	check("at the end counted from the heartbeat", false)
	l.answered() // nothing was asked
	check("after an answer to nothing", false)

	if again, err := l.welcome(&recorder{}, c.t, 10*time.Second); err != nil || l.leaseLeft(epoch) > 0 || l.leaseLeft(again) == 0 {
		t.Errorf("a permission of connection %d holds on connection %d (%v)", epoch, again, err)
	}
	l.apart()
	if l.expired() {
		t.Error("no connection, and it is to be hung up")
	}
}

func TestLinkHangsUpWhenSendingFails(t *testing.T) {
	l := newLink(time.Now)
	r := &recorder{}
	if _, err := l.welcome(r, time.Now(), time.Minute); err != nil {
		t.Fatal(err)
	}
	r.fail = true
	l.keep(event.AttemptEnded{Attempt: try("bag-1", 0, 1)}, nil)
	if !l.told(try("bag-1", 0, 1)) || !r.closed {
		t.Error("the connection that does not send is kept")
	}
	if l.told(try("bag-1", 1, 1)) {
		t.Error("an unknown attempt was told")
	}
}

// What is acknowledged is forgotten, however many there are.
func TestLinkForgetsAcknowledged(t *testing.T) {
	l := newLink(time.Now)
	for n := range 10_000 {
		at := try("bag-1", n, 1)
		l.keep(event.AttemptEnded{Attempt: at}, nil)
		l.acknowledged(at)
	}
	if len(l.unacked) != 0 {
		t.Errorf("%d are kept", len(l.unacked))
	}
	if s := fmt.Sprint(l.unacknowledged()); s != "[]" {
		t.Errorf("unacknowledged %s", s)
	}
}

// That the worker ends is said at once and first on every connection; it waits for what is
// not acknowledged, as long as there is hope.
func TestLinkRetires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, never := newLink(time.Now), make(chan struct{})
		first, second := &recorder{}, &recorder{}
		if _, err := l.welcome(first, time.Now(), time.Minute); err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			l.keep(event.AttemptEnded{Attempt: try("bag-1", n, 1), Outcome: event.Lost}, nil)
		}
		l.retire("SIGTERM")
		l.apart()
		if _, err := l.welcome(second, time.Now(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if got, want := first.kinds(), []string{"*wire.Retiring"}; !slices.Equal(got, want) {
			t.Errorf("said %v, want %v", got, want)
		}
		if got, want := second.kinds(), []string{"*wire.Retiring", "step.AttemptEnded", "step.AttemptEnded"}; !slices.Equal(got, want) {
			t.Errorf("then said %v, want %v", got, want)
		}
		begin := time.Now()
		if l.awaitAcks(time.Minute, never); time.Since(begin) != time.Minute {
			t.Errorf("gave up after %v", time.Since(begin))
		}
		over := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(over) })
		if l.awaitAcks(time.Minute, over); time.Since(begin) != time.Minute+time.Second {
			t.Errorf("gave up after %v", time.Since(begin))
		}
		time.AfterFunc(time.Second, func() { l.acknowledged(try("bag-1", 0, 1)) })
		time.AfterFunc(2*time.Second, func() { l.acknowledged(try("bag-1", 1, 1)) })
		if l.awaitAcks(time.Minute, never); time.Since(begin) != time.Minute+3*time.Second {
			t.Errorf("returned after %v", time.Since(begin))
		}
	})
}
