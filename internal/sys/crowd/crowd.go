// Package crowd bounds the connections of a server whose peers have not shown yet who they are.
package crowd

import (
	"math"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// Most is the largest number of connections in a Crowd.
	Most = 1024
	// strangerTime is how old a connection must be that is closed for another one in a crowd of Most, and less in a smaller
	// one: 20,000 a second are let in. What a peer with keys sends first comes with the connection itself; the time is for a
	// server that is busy. It is short because whoever waits in the kernel's queue keeps others out.
	strangerTime = 50 * time.Millisecond
)

// Crowd is the connections whose peers have not shown yet who they are. It is bounded: one more closes the oldest of the
// address that has the most, so whoever connects often enough to fill the crowd closes his own connections.
type Crowd struct {
	mu    sync.Mutex
	most  int
	n     int
	from  map[netip.Prefix][]stranger // the oldest first
	freed chan struct{}               // holds a token when a connection has left
}

// stranger is a connection whose peer has not shown yet who it is.
type stranger struct {
	conn  net.Conn
	since time.Time
}

// New returns an empty crowd. It takes at most a quarter of the file descriptors that the process may have.
func New() *Crowd {
	most := Most
	var files syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) == nil {
		most = min(most, max(int(min(files.Cur, math.MaxInt32))/4, 1))
	}
	return newCrowd(most)
}

func newCrowd(most int) *Crowd {
	return &Crowd{most: most, from: make(map[netip.Prefix][]stranger), freed: make(chan struct{}, 1)}
}

// Enter adds a connection, once there is room or the one that is due to be closed has had its time. It returns false if done is
// closed before that.
func (c *Crowd) Enter(done <-chan struct{}, conn net.Conn) bool {
	for {
		wait := c.tryEnter(conn)
		if wait == 0 {
			return true
		}
		select {
		case <-c.freed:
		case <-time.After(wait):
		case <-done:
			return false
		}
	}
}

// tryEnter is Enter without waiting. If it returns a time, there is room after that at the latest.
func (c *Crowd) tryEnter(conn net.Conn) (wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= c.most {
		if wait := strangerTime*time.Duration(c.most)/Most - time.Since(c.from[c.crowded()][0].since); wait > 0 {
			return wait
		}
		c.closeOne()
	}
	at := origin(conn)
	c.from[at] = append(c.from[at], stranger{conn, time.Now()})
	c.n++
	return 0
}

// Leave removes a connection, because its peer is known or it has ended. It returns false if the connection was closed
// to make room, or has left before.
func (c *Crowd) Leave(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := origin(conn)
	i := slices.IndexFunc(c.from[at], func(s stranger) bool { return s.conn == conn })
	if i < 0 {
		return false
	}
	c.remove(at, i)
	select {
	case c.freed <- struct{}{}:
	default: // the token is there
	}
	return true
}

// Thin closes half of the connections, because the process has no free file descriptor. It returns false if there are none.
func (c *Crowd) Thin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := c.n
	for c.n > had/2 {
		c.closeOne()
	}
	return had > 0
}

// crowded returns the address that has the most connections.
func (c *Crowd) crowded() (at netip.Prefix) {
	for a, all := range c.from {
		if len(all) > len(c.from[at]) {
			at = a
		}
	}
	return at
}

// closeOne closes the oldest connection of the address that has the most. The lock is held.
func (c *Crowd) closeOne() {
	at := c.crowded()
	conn := c.from[at][0].conn
	if tcp, is := conn.(*net.TCPConn); is {
		tcp.SetLinger(0) //nolint:errcheck // it is reset, so that the kernel keeps nothing of it for a minute (TIME-WAIT)
	}
	conn.Close() //nolint:errcheck // nobody knows whose it is
	c.remove(at, 0)
}

func (c *Crowd) remove(at netip.Prefix, i int) {
	c.n--
	if c.from[at] = slices.Delete(c.from[at], i, i+1); len(c.from[at]) == 0 {
		delete(c.from, at)
	}
}

// origin returns the address that a connection is counted for. One user may have all addresses of the loopback interface,
// and 2^64 of IPv6.
func origin(conn net.Conn) netip.Prefix {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := ip.BitLen()
	switch {
	case ip.IsLoopback():
		bits = 0
	case ip.Is6():
		bits = 64
	}
	at, _ := ip.Prefix(bits) // without a zone there is no error
	return at
}
