package gang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// closePatience is how long the other end may take to close the connection after it has got the result.
const closePatience = 10 * time.Second

// Program runs a program that was asked for, and returns how it ended. If ctx ends before, the program is to be ended.
type Program func(ctx context.Context, in io.Reader, out, errs io.Writer) Result

// Call is a request that has arrived.
type Call struct {
	Request
	conn io.ReadWriteCloser
	s    *stream
}

// Accept reads the request of a connection.
func Accept(conn io.ReadWriteCloser) (*Call, error) {
	c := &Call{conn: conn, s: newStream(conn)}
	kind, data, err := c.s.next()
	if err == nil && kind != frameRequest {
		err = fmt.Errorf("a frame of the kind %q instead of a request", kind)
	}
	if err == nil {
		err = json.Unmarshal(data, &c.Request)
	}
	return c, err
}

// Serve answers the call by a program that runs here, and closes the connection. If the other end closes it, the program ends.
func (c *Call) Serve(run Program) {
	defer c.conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, feed := io.Pipe()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer cancel()
		_ = feed.CloseWithError(c.feed(feed))
		_, _ = io.Copy(io.Discard, c.s.r) // until the other end closes the connection
	}()
	result := run(ctx, in, pieces{c.s, frameOut}, pieces{c.s, frameErr})
	_ = in.Close()
	if c.s.sendJSON(frameResult, result) != nil {
		return
	}
	select {
	case <-gone: // closing earlier could lose the result, if input is on its way
	case <-time.After(closePatience):
	}
}

// feed passes the input on until its end.
func (c *Call) feed(to io.Writer) error {
	for {
		kind, data, err := c.s.next()
		switch {
		case err != nil:
			return err
		case kind != frameIn:
			return fmt.Errorf("a frame of the kind %q instead of input", kind)
		case len(data) == 0:
			return nil
		}
		if _, err := to.Write(data); err != nil && !errors.Is(err, io.ErrClosedPipe) { // what the program does not read is dropped
			return err
		}
	}
}

// Refuse answers the call with the reason why no program is started.
func (c *Call) Refuse(why string) {
	c.Serve(func(context.Context, io.Reader, io.Writer, io.Writer) Result { return Result{Refused: why} })
}

// Forward has the worker at the other end of a connection answer the call. Both connections are closed once either end is.
func (c *Call) Forward(to io.ReadWriteCloser) {
	defer c.conn.Close()
	defer to.Close()
	c.Secret = ""
	next := newStream(to)
	if next.sendJSON(frameRequest, c.Request) != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, c.s.r)
		_ = to.Close() // the agent has ended
	}()
	_, _ = io.Copy(c.conn, to)
}
