package worker

import (
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// conn is a connection to the coordinator (*wire.Conn).
type conn interface {
	Send(messages ...wire.Message) error
	Queue(messages ...wire.Message) error // encodes them, for the next Send or Flush
	Flush() error
	Recv() (wire.Message, error)
	Close() error
}

// link sends the messages of attempts to the coordinator. It keeps the messages that must arrive,
// which are ends of attempts until they are acknowledged and requests until they are granted, and
// repeats them on each new connection.
//
// It also knows until when the worker may commit: during its lease, on the connection over which
// the permission was sent.
type link struct {
	now func() time.Time

	mu      sync.Mutex
	conn    conn   // nil: not connected
	epoch   uint64 // counts connections, from 1
	lease   time.Duration
	until   time.Time   // end of the lease
	beats   []time.Time // send times of the heartbeats that are not answered yet
	unacked map[job.Attempt]*ended
	ends    int // counts ends of attempts
	wishes  map[wish]wire.Message
	retires *wire.Retiring // nil: the worker is not about to end
	acked   chan struct{}  // holds a token when the last end was acknowledged
}

// ended is an attempt whose end is not acknowledged.
type ended struct {
	wire.Ended
	n     int    // the number of its end
	after func() // called once it is acknowledged, and so in the journal; nil: nothing
}

// wish is a request that is repeated until it is granted.
type wish struct {
	what    wished
	attempt job.Attempt // the attempt that asks, or the map whose output is missing
}

// wished is the kind of a wish.
type wished uint8

const (
	wishGrant  wished = iota // to go on to a phase
	wishCommit               // to put the output into place
	wishOutput               // a map output that is missing
)

func newLink(now func() time.Time) *link {
	return &link{now: now, unacked: make(map[job.Attempt]*ended), wishes: make(map[wish]wire.Message), acked: make(chan struct{}, 1)}
}

// welcome stores a new connection whose hello was sent at that time, and repeats all open messages
// on it.
func (l *link) welcome(c conn, hello time.Time, lease time.Duration) (epoch uint64, err error) {
	l.mu.Lock()
	l.conn, l.lease, l.until, l.beats = c, lease, hello.Add(lease), nil
	l.epoch++
	epoch = l.epoch
	var again []wire.Message
	if l.retires != nil {
		again = append(again, l.retires) // first, so that nothing is started in place of what ended
	}
	for _, at := range l.pending() {
		again = append(again, l.unacked[at].Ended)
	}
	for _, m := range l.wishes {
		again = append(again, m)
	}
	l.mu.Unlock()
	return epoch, c.Send(again...)
}

// apart removes the connection, and with it every permission to commit.
func (l *link) apart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
	l.epoch++
}

// leaseLeft returns the rest of the lease, or 0 if a permission to commit that came over this connection is not valid any more.
func (l *link) leaseLeft(epoch uint64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch == 0 || l.conn == nil || epoch != l.epoch {
		return 0
	}
	return max(0, l.until.Sub(l.now()))
}

// expired reports whether the lease ended without a message on the current connection.
func (l *link) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn != nil && !l.now().Before(l.until)
}

// tell sends a message, which may be lost with the connection.
func (l *link) tell(m wire.Message) { l.use(func(c conn) error { return c.Send(m) }) }

// tellNow sends the ends that wait for the next message.
func (l *link) tellNow() { l.use(conn.Flush) }

// use calls f with the connection, if there is one. A connection that has failed is closed, which its reader notices.
func (l *link) use(f func(conn) error) {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	if c != nil && f(c) != nil {
		_ = c.Close() // the message is repeated on the next connection if it must arrive
	}
}

// keep stores the end of an attempt and repeats it until it is acknowledged. after is called then; nil: nothing is to be done.
func (l *link) keep(r event.AttemptEnded, after func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends++
	l.unacked[r.Attempt] = &ended{wire.Ended{AttemptEnded: r}, l.ends, after}
}

// acknowledged forgets the end of an attempt, and returns what is to be done after it; nil: nothing.
func (l *link) acknowledged(at job.Attempt) (after func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.unacked[at]; e != nil {
		after = e.after
	}
	delete(l.unacked, at)
	if len(l.unacked) == 0 {
		poke(l.acked)
	}
	return after
}

// poke puts a token into c, unless nobody has taken the last one.
func poke(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// retire announces, on this and every later connection, that the worker is about to end.
func (l *link) retire(reason string) {
	l.mu.Lock()
	m := &wire.Retiring{Reason: reason}
	l.retires = m
	l.mu.Unlock()
	l.tell(m)
}

// awaitAcks waits until every end is acknowledged, at most for the given time and until done is
// closed.
func (l *link) awaitAcks(patience time.Duration, done <-chan struct{}) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for len(l.unacknowledged()) > 0 {
		select {
		case <-l.acked:
		case <-timeout.C:
			return
		case <-done:
			return
		}
	}
}

// told says how an attempt ended; and false if the end is acknowledged or unknown.
func (l *link) told(at job.Attempt) bool {
	known := l.tellLater(at)
	if known {
		l.tellNow()
	}
	return known
}

// tellLater has the end of an attempt sent with the next message, at the latest when the monitor looks. It returns false if the end is acknowledged
// or unknown.
func (l *link) tellLater(at job.Attempt) bool {
	l.mu.Lock()
	e := l.unacked[at]
	l.mu.Unlock()
	if e != nil {
		l.use(func(c conn) error { return c.Queue(e.Ended) })
	}
	return e != nil
}

// unacknowledged returns the attempts whose end is not acknowledged, in the order in which they ended.
func (l *link) unacknowledged() []job.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending()
}

// pending is unacknowledged for one who has the lock.
func (l *link) pending() []job.Attempt {
	return slices.SortedFunc(maps.Keys(l.unacked), func(a, b job.Attempt) int { return l.unacked[a].n - l.unacked[b].n })
}

// want requests something for an attempt and repeats the request until it is granted.
func (l *link) want(w wish, m wire.Message) {
	l.mu.Lock()
	_, known := l.wishes[w]
	l.wishes[w] = m
	l.mu.Unlock()
	if !known {
		l.tell(m)
	}
}

// fulfilled removes a request that was granted.
func (l *link) fulfilled(w wish) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wishes, w)
}

// located removes the requests for the output of a map, as that of this attempt is there. A later one may be missing.
func (l *link) located(at job.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.wishes {
		if w.what == wishOutput && w.attempt.Job == at.Job && w.attempt.Task == at.Task && w.attempt.N <= at.N {
			delete(l.wishes, w)
		}
	}
}

// forget removes all requests of a job.
func (l *link) forget(id job.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.wishes {
		if w.attempt.Job == id {
			delete(l.wishes, w)
		}
	}
}

// beat records that a heartbeat is sent.
func (l *link) beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beats = append(l.beats, l.now())
}

// answered renews the lease. The lease counts from the time when the answered heartbeat was sent,
// so it never lasts longer than the coordinator permits.
func (l *link) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.beats) == 0 {
		return // no heartbeat is unanswered
	}
	l.until = l.beats[0].Add(l.lease)
	l.beats = l.beats[1:]
}
