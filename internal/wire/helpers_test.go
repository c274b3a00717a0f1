package wire

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/crowd"
)

// must stops the test on an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// authority is a CA with a coordinator's keys.
type authority struct {
	*CA
	coordinator *Identity
}

func newAuthority(t testing.TB) authority {
	t.Helper()
	ca := must[*CA](t)(newCA(time.Now()))
	return authority{ca, must[*Identity](t)(ca.IssueCoordinator())}
}

func (a authority) worker(t testing.TB, node job.NodeID) *Identity {
	t.Helper()
	return must[*Identity](t)(a.IssueWorker(node))
}

// refusals collects what a listener refused.
type refusals struct {
	mu   sync.Mutex
	errs []error
	more chan struct{}
}

func (r *refusals) add(_ net.Addr, err error) {
	r.mu.Lock()
	r.errs = append(r.errs, err)
	r.mu.Unlock()
	r.more <- struct{}{}
}

func (r *refusals) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.errs...)
}

// listen starts a coordinator's listener on a free port of this machine.
func listen(t testing.TB, a authority) (*Listener, *refusals) {
	t.Helper()
	r := &refusals{more: make(chan struct{}, 2*crowd.Most)}
	l, err := Listen("127.0.0.1:0", a.coordinator, r.add)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, r
}

// connected returns both ends of a connection between a coordinator and a worker.
func connected(t testing.TB) (coordinator, worker *Conn) {
	t.Helper()
	a := newAuthority(t)
	l, _ := listen(t, a)
	worker, err := Dial(context.Background(), &Bundle{Addrs: []string{l.Addr().String()}, Identity: a.worker(t, "a1/0")})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Send(&Hello{Version: Version, Node: "a1/0"}); err != nil {
		t.Fatal(err)
	}
	coordinator, _, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { coordinator.Close(); worker.Close() })
	return coordinator, worker
}

// tcpPair returns both ends of a TCP connection on this machine.
func tcpPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	ln := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer ln.Close()
	a := must[net.Conn](t)(net.Dial("tcp", ln.Addr().String()))
	b := must[net.Conn](t)(ln.Accept())
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// is reports whether the message is of that type.
func is[M Message](m Message) bool {
	_, ok := m.(M)
	return ok
}
