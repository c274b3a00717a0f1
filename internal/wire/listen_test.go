package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/crowd"
)

// enter connects a worker and lets it say Hello.
func enter(t *testing.T, l *Listener, id *Identity) *Conn {
	t.Helper()
	c := must[*Conn](t)(Dial(context.Background(), &Bundle{Addrs: []string{l.Addr().String()}, Identity: id}))
	t.Cleanup(func() { c.Close() })
	if err := c.Send(&Hello{Version: Version, Node: id.Node, Host: "here"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAcceptNamesTheNode(t *testing.T) {
	a := newAuthority(t)
	l, r := listen(t, a)
	for _, node := range []job.NodeID{"a1/0", "a1/1", "a20/113"} {
		worker := enter(t, l, a.worker(t, node))
		c, hello, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := PeerNode(c); err != nil || got != node || hello.Node != node || hello.Host != "here" {
			t.Errorf("got %q, %+v, %v", got, hello, err)
		}
		if got, err := PeerNode(worker); err != nil || got != "" {
			t.Errorf("the coordinator is taken for the worker of %q", got)
		}
		if err := c.Send(&Welcome{Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		if m, err := worker.Recv(); err != nil || m.(*Welcome).Lease != time.Minute {
			t.Errorf("got %v, %v", m, err)
		}
		c.Close()
	}
	if err := r.take(); err != nil {
		t.Errorf("refused: %v", err)
	}
}

// knocks returns the configuration of a client that somehow knows how workers of an authority knock.
func knocks(c *tls.Config, a authority) *tls.Config {
	c.NextProtos = ServerTLS(a.coordinator).NextProtos
	return c
}

// Whatever a stranger says, it is refused and told, and workers get in as before.
func TestStrangersAreRefused(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	insecure := func(id *Identity) *tls.Config {
		c := config(id, protocol, "")
		c.InsecureSkipVerify = true
		return c
	}
	said := func(m Message) []byte { return must[[]byte](t)(AppendFrame(nil, m)) }
	tests := []struct {
		name   string
		config *tls.Config // nil: no TLS
		says   []byte
		reason string
	}{
		{"plain text", nil, []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "TLS handshake"},
		{"plain frame", nil, said(&Hello{Version: Version, Node: "a1/0"}), "TLS handshake"},
		{"nothing", nil, nil, "EOF"},
		{"second authority", insecure(theirs.worker(t, "a1/0")), nil, "no keys of this coordinator"},
		{"second authority that knocks", knocks(insecure(theirs.worker(t, "a1/0")), ours), nil, "unknown authority"},
		{"no certificate", insecure(&Identity{}), nil, "no keys of this coordinator"},
		{"no certificate and a knock", knocks(insecure(&Identity{}), ours), nil, "didn't provide a certificate"},
		{"coordinator's keys", insecure(ours.coordinator), nil, "must be a worker"},
		{"no Hello", ClientTLS(ours.worker(t, "a1/0")), said(&Heartbeat{}), "before Hello"},
		{"garbage", ClientTLS(ours.worker(t, "a1/0")), []byte("GET / HTTP/1.1\r\n\r\n"), "protocol"},
		{"another's name", ClientTLS(ours.worker(t, "a1/0")), said(&Hello{Version: Version, Node: "a1/1"}), `names itself "a1/1"`},
		{"another version", ClientTLS(ours.worker(t, "a1/0")), said(&Hello{Version: Version + 1, Node: "a1/0"}), "version " + strconv.Itoa(Version)},
		{"leaves at once", ClientTLS(ours.worker(t, "a1/0")), nil, "EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, r := listen(t, ours)
			raw := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
			defer raw.Close()
			nc := raw
			if tt.config != nil {
				if tt.config.Certificates[0].Certificate == nil {
					tt.config.Certificates = nil
				}
				nc = tls.Client(raw, tt.config)
			}
			nc.Write(tt.says) //nolint:errcheck // it may be refused by then
			if tt.says == nil {
				nc.(interface{ CloseWrite() error }).CloseWrite() //nolint:errcheck // ditto
			}
			io.Copy(io.Discard, raw) //nolint:errcheck // until the listener hangs up
			<-r.more
			if err := r.take(); err == nil || !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("refused with %v, want %q", err, tt.reason)
			}
			enter(t, l, ours.worker(t, "a1/0"))
			if _, _, err := l.Accept(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A worker that is turned away is told why.
func TestTurnedAwayWorkerIsTold(t *testing.T) {
	a := newAuthority(t)
	l, _ := listen(t, a)
	c := must[*Conn](t)(Dial(context.Background(), &Bundle{Addrs: []string{l.Addr().String()}, Identity: a.worker(t, "a1/0")}))
	defer c.Close()
	if err := c.Send(&Hello{Version: Version + 1, Node: "a1/0"}, &Heartbeat{}); err != nil {
		t.Fatal(err)
	}
	m, err := c.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := m.(*Shutdown); !ok || !strings.Contains(s.Reason, "same version of berth") {
		t.Errorf("got %T %+v", m, m)
	}
}

// A refused connection with bytes unread is not reset: the peer reads why, and the end.
func TestDismissDoesNotReset(t *testing.T) {
	a, b := tcpPair(t)
	must[int](t)(b.Write([]byte("unread")))
	must[int](t)(io.ReadFull(a, make([]byte, 1))) // the rest has arrived, too
	must[int](t)(a.Write([]byte("why")))
	gone := make(chan struct{})
	go func() { dismiss(a); close(gone) }()
	if got, err := io.ReadAll(b); err != nil || string(got) != "why" {
		t.Errorf("got %q, %v", got, err)
	}
	b.Close()
	<-gone
}

// A worker whose keys are not taken learns that it is so, and not just a lost connection.
func TestRefusedKeysAreTold(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	l, _ := listen(t, ours)
	for _, config := range []*tls.Config{ClientTLS(theirs.worker(t, "a1/0")), knocks(ClientTLS(theirs.worker(t, "a1/0")), ours)} {
		raw := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
		defer raw.Close()
		config.InsecureSkipVerify, config.VerifyConnection = true, nil
		c := NewConn(tls.Client(raw, config))
		err := c.Send(&Hello{Version: Version, Node: "a1/0"})
		if err == nil { // TLS 1.3 tells a client at its first read
			_, err = c.Recv()
		}
		if err == nil || job.ClassOf(err) != job.Fatal || !strings.Contains(err.Error(), "refuses the keys") {
			t.Errorf("got %v", err)
		}
	}
}

// pipes is a listener whose connections are pipes, so that time can be false.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// One that connects and says nothing, without keys or with them, is dropped after
// helloTime, and workers are let in meanwhile.
func TestSilentStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAuthority(t)
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		r := &refusals{more: make(chan struct{}, 10)}
		l := newListener(ln, ServerTLS(a.coordinator), r.add)
		start := time.Now()
		connect := func() net.Conn {
			client, server := net.Pipe()
			ln.conns <- server
			return client
		}
		issued := func(node job.NodeID) *Identity { return must[*Identity](t)(a.issue(node, start, certLife)) }
		silent := connect()
		mute := must[*Conn](t)(DialOver(context.Background(), connect(), "pipe", issued("a1/1")))
		worker := must[*Conn](t)(DialOver(context.Background(), connect(), "pipe", issued("a1/0")))
		if err := worker.Send(&Hello{Version: Version, Node: "a1/0"}); err != nil {
			t.Fatal(err)
		}
		c, _, err := l.Accept()
		if err != nil || time.Since(start) != 0 {
			t.Fatalf("worker let in after %v, %v", time.Since(start), err)
		}
		if n, err := silent.Read(make([]byte, 1)); err == nil || time.Since(start) != helloTime {
			t.Errorf("%d bytes after %v, %v", n, time.Since(start), err)
		}
		if m, err := mute.Recv(); err == nil || time.Since(start) != helloTime {
			t.Errorf("%v after %v, %v", m, time.Since(start), err)
		}
		// The worker's connection has no deadline left.
		time.Sleep(100 * helloTime)
		go c.Send(&HeartbeatAck{}) //nolint:errcheck // Recv tells
		if m, err := worker.Recv(); err != nil {
			t.Errorf("got %v, %v", m, err)
		}
		go io.Copy(io.Discard, worker.nc) //nolint:errcheck // a pipe's peer must read for it to close
		if err := errors.Join(c.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		worker.Close()
		silent.Close()
		mute.Close()
	})
}

// However many strangers sit there, they push out each other and no worker.
func TestStrangersPushOutEachOther(t *testing.T) {
	a := newAuthority(t)
	l, r := listen(t, a)
	var strangers []net.Conn
	for range crowd.Most + 20 {
		c := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
		defer c.Close()
		strangers = append(strangers, c)
	}
	for range 20 {
		<-r.more
	}
	if _, err := strangers[0].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the oldest reads %v; it should be reset, so that this side keeps no socket in TIME-WAIT", err)
	}
	enter(t, l, a.worker(t, "a1/0"))
	if _, _, err := l.Accept(); err != nil {
		t.Error(err)
	}
}

func TestCloseListener(t *testing.T) {
	a := newAuthority(t)
	r := &refusals{more: make(chan struct{}, 10)}
	l := must[*Listener](t)(Listen("127.0.0.1:0", a.coordinator, r.add))
	silent := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
	defer silent.Close()
	unaccepted := enter(t, l, a.worker(t, "a1/0"))
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := unaccepted.Recv(); err == nil {
		t.Error("a worker that nobody accepted was not told")
	}
	if _, err := Listen("127.0.0.1:99999", a.coordinator, r.add); err == nil {
		t.Error("listening on an impossible port")
	}
}
