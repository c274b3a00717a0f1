package wire

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// visitor is a pipe's end from an address.
type visitor struct {
	net.Conn
	from net.Addr
}

func (v *visitor) RemoteAddr() net.Addr { return v.from }

func visit(ip net.IP) (server, client net.Conn) {
	client, server = net.Pipe()
	return &visitor{server, &net.TCPAddr{IP: ip}}, client
}

// TestManyWorkers: all of thousands of workers that connect at once are let in, though each handshake takes a while, as they do when a
// coordinator comes back. One that says nothing is among them, and keeps nobody waiting.
func TestManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, each = 3000, time.Millisecond
		core := make(chan struct{}, 1)
		var silent net.Conn
		proof := func(c net.Conn, knocked func() error) (net.Conn, error) {
			if c == silent {
				_, err := c.Read(make([]byte, 1))
				return c, err
			}
			if err := knocked(); err != nil {
				return c, err
			}
			core <- struct{}{}
			defer func() { <-core }()
			time.Sleep(each)
			return c, c.SetDeadline(time.Now().Add(time.Hour)) // an error if it was closed meanwhile
		}
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		var refused []error
		g := newGate(ln, proof, func(_ net.Addr, err error) { refused = append(refused, err) })
		start := time.Now()
		go func() {
			for i := range workers + 1 {
				_, server := net.Pipe()
				if i == 0 {
					silent = server
				}
				ln.conns <- server
			}
		}()
		for range workers {
			if _, err := g.Accept(); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != workers*each {
			t.Errorf("all were let in after %v", took)
		}
		if len(refused) != 0 {
			t.Errorf("refused: %v", refused)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFlood: whatever strangers do whose connections fill the kernel's queue, a worker is let in at once: one from another address that knocks a
// fifth of a second after it has connected, and one from the strangers' address that knocks a fiftieth of a second after that.
func TestFlood(t *testing.T) {
	for name, says := range map[string]string{"silent": "", "stalled": "?", "garbage": "!"} {
		for from, after := range map[string]time.Duration{"10.0.0.2": time.Second / 5, "10.0.0.1": time.Second / 50} {
			synctest.Test(t, func(t *testing.T) {
				took := flood(t, says, from, after)
				if took > after+time.Second/2 {
					t.Errorf("%s strangers kept a worker from %s out for %v", name, from, took)
				}
			})
		}
	}
}

// flood has 16,000 strangers a second come from 10.0.0.1, and returns how long a worker needs that knocks after a while.
func flood(t *testing.T, says, from string, after time.Duration) time.Duration {
	const queue, before, second = 4096, 5000, 16_000
	ln := &pipes{conns: make(chan net.Conn, queue), done: make(chan struct{})}
	g := newGate(ln, func(c net.Conn, knocked func() error) (net.Conn, error) {
		for b := make([]byte, 1); ; {
			_, err := c.Read(b)
			switch {
			case err != nil:
				return c, err
			case b[0] == '!':
				return c, errStranger
			case b[0] == 'k':
				return c, knocked()
			}
		}
	}, func(net.Addr, error) {})
	come := func() {
		server, client := visit(net.IPv4(10, 0, 0, 1))
		select {
		case ln.conns <- server:
			go client.Write([]byte(says)) //nolint:errcheck // it may be closed
		default: // as the kernel drops it
		}
		time.Sleep(time.Second / second)
	}
	for range before {
		come()
	}
	var strangers sync.WaitGroup
	strangers.Go(func() {
		for g.ctx.Err() == nil {
			come()
		}
	})
	start := time.Now()
	server, client := visit(net.ParseIP(from))
	ln.conns <- server
	go func() {
		time.Sleep(after)
		client.Write([]byte("k")) //nolint:errcheck // that it is let in tells
	}()
	if c, err := g.Accept(); err != nil || c != server {
		t.Errorf("%v, %v", c, err)
	}
	took := time.Since(start)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	strangers.Wait()
	close(ln.conns)
	for c := range ln.conns {
		c.Close()
	}
	return took
}
