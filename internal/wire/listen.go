package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"berth/internal/job"
)

const (
	// helloTime is how long a connection may take to its Hello, the handshake included.
	helloTime = 10 * time.Second
	// maxStrangers is how many connections may be on their way to a Hello. One more
	// ends the oldest: workers need a fraction of a second, only strangers sit there.
	maxStrangers = 256
	// acceptPause is how long the listener waits when it cannot accept, as when the
	// process has no file descriptor left.
	acceptPause = 100 * time.Millisecond
	// maxDismissBytes is how much of a refused peer's talk is listened to.
	maxDismissBytes = 1 << 20
)

// Listener lets workers in and keeps strangers out. Every connection proves itself
// on its own, so a stranger that says nothing holds up nobody.
type Listener struct {
	ln      net.Listener
	config  *tls.Config
	refused func(net.Addr, error)

	accepted chan peer
	done     chan struct{}
	wg       sync.WaitGroup

	mu       sync.Mutex
	pending  [maxStrangers]net.Conn // without a Hello yet; a ring
	next     int
	stopping bool
}

// peer is a worker that has said Hello.
type peer struct {
	conn  *Conn
	hello *Hello
}

// Listen listens for workers on a TCP address with the coordinator's keys. Each
// connection that is refused is told to refused, with its address and the reason; it
// may be called from several goroutines and shall not block.
func Listen(addr string, id *Identity, refused func(net.Addr, error)) (*Listener, error) {
	lc := net.ListenConfig{KeepAlive: keepAlive}
	ln, err := lc.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: addr, What: "cannot listen for workers", Err: err}
	}
	return newListener(ln, ServerTLS(id), refused), nil
}

func newListener(ln net.Listener, config *tls.Config, refused func(net.Addr, error)) *Listener {
	l := &Listener{ln: ln, config: config, refused: refused, accepted: make(chan peer), done: make(chan struct{})}
	l.wg.Go(l.run)
	return l
}

// Addr returns the address listened on.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// Accept waits for the next worker and returns its connection with its Hello, which
// names the node that its certificate was issued for. Once the listener is closed
// the error is net.ErrClosed.
func (l *Listener) Accept() (*Conn, *Hello, error) {
	select {
	case p := <-l.accepted:
		return p.conn, p.hello, nil
	case <-l.done:
		return nil, nil, net.ErrClosed
	}
}

// Close stops listening and drops connections that were not accepted yet.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.stopping {
		l.mu.Unlock()
		return nil
	}
	l.stopping = true
	close(l.done)
	for _, c := range l.pending {
		if c != nil {
			c.Close() //nolint:errcheck // a stranger's
		}
	}
	l.mu.Unlock()
	err := l.ln.Close()
	l.wg.Wait()
	return err
}

// run accepts connections until the listener is closed.
func (l *Listener) run() {
	for {
		raw, err := l.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			l.refused(l.ln.Addr(), fmt.Errorf("accept a connection: %w", err))
			select {
			case <-l.done:
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		if slot, ok := l.admit(raw); ok {
			l.wg.Go(func() { l.prove(raw, slot) })
		}
	}
}

// admit puts a connection among those on their way; the oldest goes if there are too many.
func (l *Listener) admit(raw net.Conn) (slot int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		raw.Close() //nolint:errcheck // a stranger's
		return 0, false
	}
	slot = l.next
	l.next = (l.next + 1) % maxStrangers
	if old := l.pending[slot]; old != nil {
		old.Close() //nolint:errcheck // a stranger's
	}
	l.pending[slot] = raw
	return slot, true
}

// settle takes a connection out of those on their way.
func (l *Listener) settle(raw net.Conn, slot int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[slot] == raw {
		l.pending[slot] = nil
	}
}

// prove takes a connection to its Hello and hands it to Accept, or ends it.
func (l *Listener) prove(raw net.Conn, slot int) {
	p, err := l.greet(raw)
	if err != nil {
		l.refused(raw.RemoteAddr(), err)
		dismiss(raw)
		l.settle(raw, slot)
		return
	}
	l.settle(raw, slot)
	select {
	case l.accepted <- p:
	case <-l.done:
		p.conn.Close() //nolint:errcheck // nobody wants it any more
	}
}

// dismiss closes a connection that was refused. It first lets the peer read why: to
// close with its bytes unread would reset the connection and drop what was sent.
func dismiss(raw net.Conn) {
	if tcp, ok := raw.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		raw.SetDeadline(time.Now().Add(lingerTime))               //nolint:errcheck // a stranger's
		io.Copy(io.Discard, io.LimitReader(raw, maxDismissBytes)) //nolint:errcheck // a stranger's
	}
	raw.Close() //nolint:errcheck // a stranger's
}

// greet does the handshake and reads the Hello, within helloTime.
func (l *Listener) greet(raw net.Conn) (peer, error) {
	nc := tls.Server(newTransport(raw), l.config)
	if err := nc.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return peer{}, err
	}
	if err := nc.HandshakeContext(context.Background()); err != nil {
		return peer{}, refused(raw.RemoteAddr().String(), err)
	}
	c := NewConn(nc)
	m, err := c.Recv()
	if err != nil {
		return peer{}, err
	}
	hello, ok := m.(*Hello)
	if !ok {
		return peer{}, c.garbage(fmt.Errorf("%T before Hello", m))
	}
	if err := c.judge(hello); err != nil {
		return peer{}, errors.Join(err, c.Send(&Shutdown{Reason: err.Error()}))
	}
	return peer{c, hello}, nc.SetDeadline(time.Time{})
}

// judge refuses a Hello of another version or for another node than the certificate's.
func (c *Conn) judge(h *Hello) error {
	if h.Version != Version {
		return &job.Error{
			Class: job.Fatal, Where: c.peer,
			What: fmt.Sprintf("the worker speaks version %d of the protocol, the coordinator version %d", h.Version, Version),
			Do:   "install the same version of berth on every node",
		}
	}
	node, err := PeerNode(c)
	if err != nil {
		return err
	}
	if node != h.Node {
		return &job.Error{Class: job.Fatal, Where: c.peer, What: fmt.Sprintf("the worker says it is %q, its keys are those of %q", h.Node, node)}
	}
	return nil
}
