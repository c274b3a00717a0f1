package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

func TestMessagesArriveInOrder(t *testing.T) {
	coordinator, worker := connected(t)
	want := []Message{
		&Welcome{Heartbeat: time.Second, Lease: 10 * time.Second},
		&Job{Spec: bytes.Repeat([]byte("spec"), 1<<19), Maps: 3}, // many TLS records
		&Start{Start: step.Start{Attempt: job.Attempt{Job: "bag-1", Task: 7, N: 1}, Through: job.PhaseStore, Commit: true}, Entry: job.Entry{"x"}},
		&HeartbeatAck{},
		&Shutdown{Reason: "done"},
	}
	if err := errors.Join(coordinator.Queue(want[0]), coordinator.Send(want[1], want[2]), coordinator.Send(want[3:]...)); err != nil {
		t.Fatal(err)
	}
	for _, m := range want {
		got, err := worker.Recv()
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Fatalf("got %.80v, %v; want %.80v", got, err, m)
		}
	}
	if n := worker.body.Cap(); n > keepBuffer {
		t.Errorf("a buffer of %d bytes is kept", n)
	}
}

func TestSendFromManyGoroutines(t *testing.T) {
	coordinator, worker := connected(t)
	const senders, each = 8, 500
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if err := worker.Send(&EndedAck{Attempt: job.Attempt{Job: "bag-1", Task: s, N: i}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	next := make([]int, senders)
	for range senders * each {
		m, err := coordinator.Recv()
		if err != nil {
			t.Fatal(err)
		}
		a := m.(*EndedAck).Attempt
		if a.N != next[a.Task] {
			t.Fatalf("sender %d: message %d came when %d was due", a.Task, a.N, next[a.Task])
		}
		next[a.Task]++
	}
	wg.Wait()
}

// slowFirst is a connection whose first Write waits until it is opened.
type slowFirst struct {
	net.Conn
	entered chan struct{}
	open    chan struct{}
	writes  [][]byte
}

func (g *slowFirst) Write(p []byte) (int, error) {
	g.writes = append(g.writes, bytes.Clone(p))
	if len(g.writes) == 1 {
		close(g.entered)
		<-g.open
	}
	return len(p), nil
}

// What is sent while another goroutine writes goes out with that goroutine's next
// write, all at once.
func TestSendsMeanwhileAreWrittenTogether(t *testing.T) {
	client, _ := net.Pipe()
	g := &slowFirst{Conn: client, entered: make(chan struct{}), open: make(chan struct{})}
	c := NewConn(g)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := c.Send(&HeartbeatAck{}); err != nil {
			t.Error(err)
		}
	})
	<-g.entered
	for range 10 {
		if err := c.Send(&HeartbeatAck{}); err != nil {
			t.Fatal(err)
		}
	}
	close(g.open)
	wg.Wait()
	if len(g.writes) != 2 || len(g.writes[1]) != 10*len(g.writes[0]) {
		t.Errorf("%d writes: %q", len(g.writes), g.writes)
	}
}

func TestRecvRefusesGarbage(t *testing.T) {
	tests := map[string]struct {
		data  []byte
		class job.Class
		is    error
	}{
		"closed":            {nil, job.Transient, io.EOF},
		"cut in the header": {[]byte{0, 0, 0}, job.Transient, io.ErrUnexpectedEOF},
		"cut behind it":     {[]byte{0, 0, 0, 1, 69}, job.Transient, io.ErrUnexpectedEOF},
		"cut in the body":   {[]byte{3, 0, 0, 0, 67, 1, 2}, job.Transient, io.ErrUnexpectedEOF},
		"too large":         {[]byte{0xff, 0, 0, 0, 67}, job.Fatal, nil},
		"unknown kind":      {[]byte{0, 0, 0, 1, 200, 0x80}, job.Fatal, nil},
		"no message":        {[]byte{0, 0, 0, 1, 69, 0x00}, job.Fatal, nil},
		"HTTP":              {[]byte("GET / HTTP/1.1\r\n\r\n"), job.Fatal, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := tcpPair(t)
			if _, err := a.Write(tt.data); err != nil {
				t.Fatal(err)
			}
			a.Close()
			c := NewConn(b)
			before := allocated()
			m, err := c.Recv()
			if n := allocated() - before; n > 8*keepBuffer {
				t.Errorf("%d bytes were set aside for what never came", n)
			}
			if err == nil || job.ClassOf(err) != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("got %v, %v (%v)", m, err, job.ClassOf(err))
			}
		})
	}
}

// allocated returns how many bytes were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A message that cannot be sent does not take the connection, or its neighbours, along.
func TestSendAMessageThatIsTooLarge(t *testing.T) {
	coordinator, worker := connected(t)
	if err := coordinator.Queue(&HeartbeatAck{}); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Send(Kill{}, &Job{Spec: make([]byte, MaxMessage)}); err == nil {
		t.Fatal("sent")
	}
	if err := coordinator.Send(&Shutdown{Reason: "next"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []Message{&HeartbeatAck{}, &Shutdown{Reason: "next"}} {
		if got, err := worker.Recv(); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, %v; want %v", got, err, want)
		}
	}
}

func TestClosedConnection(t *testing.T) {
	coordinator, worker := connected(t)
	if err := coordinator.Close(); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Send(&HeartbeatAck{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("sent on a closed connection: %v", err)
	}
	if _, err := worker.Recv(); !errors.Is(err, io.EOF) || job.ClassOf(err) != job.Transient {
		t.Errorf("received from a closed connection: %v", err)
	}
	if _, err := coordinator.Recv(); err == nil {
		t.Error("received on a closed connection")
	}
}

func TestReadDeadline(t *testing.T) {
	coordinator, _ := connected(t)
	if err := coordinator.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := coordinator.Recv(); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("got %v", err)
	}
}

// A peer that does not read does not hold up the sender; when it reads at last, it
// gets everything, in order.
func TestSendDoesNotWaitForThePeer(t *testing.T) {
	coordinator, worker := connected(t)
	big := bytes.Repeat([]byte("x"), 1<<20)
	const n = 24 // more than the kernel's buffers take
	for i := range n {
		if err := coordinator.Send(&Job{Spec: big, Maps: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := coordinator.Send(&Shutdown{}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m, err := worker.Recv()
		if err != nil || m.(*Job).Maps != i || len(m.(*Job).Spec) != len(big) {
			t.Fatalf("message %d: %T, %v", i, m, err)
		}
	}
	if m, err := worker.Recv(); err != nil || !is[*Shutdown](m) {
		t.Fatalf("got %v, %v", m, err)
	}
}

// What was sent before Close is delivered although the kernel had not taken it yet.
func TestCloseDeliversWhatWaits(t *testing.T) {
	coordinator, worker := connected(t)
	if err := coordinator.Send(&Job{Spec: make([]byte, 24<<20)}, &Shutdown{Reason: "end"}); err != nil {
		t.Fatal(err)
	}
	if err := coordinator.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := worker.Recv(); err != nil || !is[*Job](m) {
		t.Fatalf("got %T, %v", m, err)
	}
	if m, err := worker.Recv(); err != nil || !is[*Shutdown](m) {
		t.Fatalf("got %T, %v", m, err)
	}
	if _, err := worker.Recv(); !errors.Is(err, io.EOF) {
		t.Fatalf("got %v", err)
	}
}

// A peer that never reads is given up once too much waits for it, and a reader on
// this side learns of it.
func TestPeerThatNeverReads(t *testing.T) {
	a, _ := tcpPair(t)
	tr := newTransport(a).(*transport)
	tr.limit = 1 << 20
	c := NewConn(tr)
	read := make(chan error)
	go func() {
		_, err := c.Recv()
		read <- err
	}()
	var err error
	for range 1000 {
		if err = c.Send(&Job{Spec: make([]byte, 1<<20)}); err != nil {
			break
		}
	}
	if err == nil || job.ClassOf(err) != job.Transient {
		t.Fatalf("got %v", err)
	}
	if err := <-read; err == nil {
		t.Error("the reader was told nothing")
	}
	if again := c.Send(&HeartbeatAck{}); again == nil {
		t.Error("sent after that")
	}
}

// A peer that is gone while bytes wait for it ends the connection.
func TestPeerThatGoesWhileBytesWait(t *testing.T) {
	a, b := tcpPair(t)
	c := NewConn(newTransport(a))
	if err := c.Send(&Job{Spec: make([]byte, 24<<20)}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil { // with bytes unread: a reset
		t.Fatal(err)
	}
	if _, err := c.Recv(); err == nil || job.ClassOf(err) != job.Transient {
		t.Errorf("got %v", err)
	}
}
