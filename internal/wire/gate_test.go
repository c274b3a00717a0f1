package wire

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestCrowd: all of thousands of workers that connect at once are let in, though each handshake takes a while, as they do when a
// coordinator comes back. One that says nothing is among them, and leaves its place to others.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, each = 3000, time.Millisecond
		core := make(chan struct{}, 1)
		var silent net.Conn
		shake := func(c net.Conn) (net.Conn, error) {
			if c == silent {
				_, err := c.Read(make([]byte, 1))
				return c, err
			}
			core <- struct{}{}
			defer func() { <-core }()
			time.Sleep(each)
			return c, c.SetDeadline(time.Now().Add(time.Hour)) // an error if it was closed meanwhile
		}
		ln := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		var refused []error
		g := newGate(ln, shake, func(net.Conn) {}, func(_ net.Addr, err error) { refused = append(refused, err) })
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
			if _, err := g.accept(); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != workers*each {
			t.Errorf("all were let in after %v", took)
		}
		synctest.Wait()
		if len(refused) != 1 {
			t.Errorf("%d were refused: %v", len(refused), refused)
		}
		if err := g.close(); err != nil {
			t.Error(err)
		}
	})
}
