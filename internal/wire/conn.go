package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"berth/internal/core/job"
)

const (
	// readBuffer is small, as a coordinator has thousands of connections that are mostly silent. The TLS layer below keeps the rest of
	// what a system call has read, and what is larger is read past the buffer.
	readBuffer = 2 << 10
	keepBuffer = 1 << 20 // larger buffers are not reused
)

// Conn sends and receives messages over a connection. Any goroutine may send; only one may receive.
type Conn struct {
	nc   net.Conn
	peer string // address for errors

	in   *bufio.Reader
	head [headerSize]byte // of the last message received
	rest io.LimitedReader // what is still to come of the message that is received
	body bytes.Buffer     // of the last message received; reused

	mu      sync.Mutex
	queue   []byte // frames that are not written yet
	spare   []byte // the second buffer: one is queued into while the other is written
	writing bool   // a goroutine writes, and will also write what is queued meanwhile
	err     error  // the error that ended sending
}

// NewConn returns a Conn over nc. Send does not wait for the peer if writing to nc does not; this
// holds for the connections of Listen and Dial.
func NewConn(nc net.Conn) *Conn {
	return &Conn{nc: nc, peer: nc.RemoteAddr().String(), in: bufio.NewReaderSize(nc, readBuffer)}
}

// Send sends messages in order. If no goroutine is writing, it writes them at once, together;
// otherwise that goroutine writes them too. After an error of the message itself the connection can
// still be used. After any other error it is closed.
func (c *Conn) Send(messages ...Message) error {
	if err := c.Queue(messages...); err != nil {
		return err
	}
	return c.Flush()
}

// Queue encodes messages, which the next Send or Flush sends.
func (c *Conn) Queue(messages ...Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	before := len(c.queue)
	for _, m := range messages {
		var err error
		if c.queue, err = AppendFrame(c.queue, m); err != nil {
			c.queue = c.queue[:before]
			return job.FatalError(c.peer, "cannot send a message", err)
		}
	}
	return nil
}

// Flush writes the queued messages.
func (c *Conn) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing {
		return c.err
	}
	c.writing = true
	for len(c.queue) > 0 && c.err == nil {
		out := c.queue
		c.queue = c.spare[:0]
		c.mu.Unlock()
		_, err := c.nc.Write(out)
		c.mu.Lock()
		if cap(out) > keepBuffer {
			out = nil
		}
		c.spare = out
		if err != nil && c.err == nil {
			c.err = errors.Join(c.lost(err), c.nc.Close())
		}
	}
	c.writing = false
	return c.err
}

// Recv waits for the next message. If the peer has closed the connection the error wraps io.EOF.
// The error of a lost connection has class Transient. The error of invalid data has class Fatal,
// and nothing more can be received after it.
func (c *Conn) Recv() (Message, error) {
	if _, err := io.ReadFull(c.in, c.head[:]); err != nil {
		return nil, c.lost(err)
	}
	size, kind := binary.BigEndian.Uint32(c.head[:]), c.head[4]
	if size > MaxMessage {
		return nil, c.garbage(fmt.Errorf("the message has %d bytes, and the limit is %d", size, MaxMessage))
	}
	if messages[kind] == nil {
		return nil, c.garbage(fmt.Errorf("the message has the unknown kind %d", kind))
	}
	c.body.Reset()
	c.rest = io.LimitedReader{R: c.in, N: int64(size)}
	_, err := c.body.ReadFrom(&c.rest) // it takes memory as bytes arrive, because the announced length may be false
	if err == nil && c.rest.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, c.lost(err)
	}
	m, err := Decode(kind, c.body.Bytes())
	if c.body.Cap() > keepBuffer {
		c.body = bytes.Buffer{}
	}
	if err != nil {
		return nil, c.garbage(err)
	}
	return m, nil
}

// SetReadDeadline makes Recv fail after t; the zero time means never. A message of which only a
// part was received is lost.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.nc.SetReadDeadline(t) }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// LocalAddr returns the address on this side.
func (c *Conn) LocalAddr() net.Addr { return c.nc.LocalAddr() }

// Close closes the connection. Messages that were sent before are still delivered, unless the peer
// reads nothing for a few seconds.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.err == nil {
		c.err = c.lost(net.ErrClosed)
	}
	c.mu.Unlock()
	return c.nc.Close()
}

// lost returns the error for a broken connection. A TLS alert means that the peer refuses this
// side's key, and trying again with the same key does not help.
func (c *Conn) lost(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return refusedBy(c.peer, err)
	}
	return job.IOError(job.Transient, c.peer, "the connection was lost", err)
}

// garbage returns the error for bytes that are not a valid message.
func (c *Conn) garbage(err error) error {
	return job.IOError(job.Fatal, c.peer, "the peer violates the protocol", err).Advice("install the same version of berth on both sides")
}
