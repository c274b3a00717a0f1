package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"berth/internal/job"
)

const (
	readBuffer = 32 << 10
	keepBuffer = 1 << 20 // buffers that grew beyond this are not kept
)

// Conn carries messages over a connection. Sending is safe from several goroutines;
// receiving is for one.
type Conn struct {
	nc   net.Conn
	peer string // for errors

	in   *bufio.Reader
	body []byte // of the last message received, used again

	mu      sync.Mutex
	queue   []byte // frames to be written
	spare   []byte // the buffer to queue in while the other is written
	writing bool   // a goroutine writes, and will write what is queued meanwhile
	err     error  // that ended sending
}

// NewConn returns a Conn over nc. Send does not wait for the peer if nc does not
// (Listen and Dial see to that).
func NewConn(nc net.Conn) *Conn {
	return &Conn{nc: nc, peer: nc.RemoteAddr().String(), in: bufio.NewReaderSize(nc, readBuffer)}
}

// Send sends messages, in order. If the connection is idle it writes them itself,
// at once and together; if another goroutine is writing, that one takes them along.
// An error that concerns the message alone leaves the connection as it was; after any
// other the connection is closed.
func (c *Conn) Send(messages ...Message) error {
	if err := c.Queue(messages...); err != nil {
		return err
	}
	return c.Flush()
}

// Queue encodes messages to be sent with the next Send or Flush.
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
			return &job.Error{Class: job.Fatal, Where: c.peer, What: "cannot send a message", Err: err}
		}
	}
	return nil
}

// Flush writes what is queued.
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

// Recv waits for the next message. When the peer has closed the connection the
// error wraps io.EOF. Lost connections are of class Transient; what cannot be
// understood is of class Fatal, and nothing further can be received.
func (c *Conn) Recv() (Message, error) {
	head, err := c.in.Peek(headerSize)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, c.lost(err)
	}
	size, kind := binary.BigEndian.Uint32(head), head[4]
	if size > MaxMessage {
		return nil, c.garbage(fmt.Errorf("message of %d bytes, more than %d", size, MaxMessage))
	}
	if messages[kind] == nil {
		return nil, c.garbage(fmt.Errorf("unknown kind %d of message", kind))
	}
	if _, err := c.in.Discard(headerSize); err != nil {
		return nil, c.lost(err)
	}
	body, err := c.read(int(size))
	if err != nil {
		return nil, c.lost(err)
	}
	m, err := Decode(kind, body)
	if err != nil {
		return nil, c.garbage(err)
	}
	return m, nil
}

// read returns the next n bytes, valid until the call after. Memory is taken as the
// bytes arrive, not as they are announced.
func (c *Conn) read(n int) ([]byte, error) {
	body := c.body[:0]
	for len(body) < n {
		have := len(body)
		step := min(n-have, max(have, keepBuffer))
		body = slices.Grow(body, step)[:have+step]
		if _, err := io.ReadFull(c.in, body[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	if c.body = body; cap(body) > keepBuffer {
		c.body = nil
	}
	return body, nil
}

// SetReadDeadline makes Recv fail from t on; the zero time means never. A message
// cut in two by it cannot be taken up again.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.nc.SetReadDeadline(t) }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.nc.RemoteAddr() }

// LocalAddr returns the address on this side.
func (c *Conn) LocalAddr() net.Addr { return c.nc.LocalAddr() }

// Close closes the connection. What Send took is still delivered if the peer reads
// it within a few seconds.
func (c *Conn) Close() error {
	c.mu.Lock()
	if c.err == nil {
		c.err = c.lost(net.ErrClosed)
	}
	c.mu.Unlock()
	return c.nc.Close()
}

// lost is the error for a connection that broke. An alert of the peer's is its
// refusal of this side's key, which no retry with the same key mends.
func (c *Conn) lost(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return refusedBy(c.peer, err)
	}
	return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: c.peer, What: "connection lost", Err: err}
}

// garbage is the error for bytes that are no message.
func (c *Conn) garbage(err error) error {
	return &job.Error{
		Class: job.Fatal, Code: job.CodeIO, Where: c.peer, What: "the peer does not keep to the protocol", Err: err,
		Do: "run the same version of berth on both sides",
	}
}
