package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"berth/internal/job"
)

const (
	// dialTime is how long connecting may take, the handshake included.
	dialTime = 10 * time.Second
	// connectTime is how long one address may take until it answers at all; names are
	// looked up in it. The kernel has sent its second SYN after a second.
	connectTime = 3 * time.Second
	// dialStagger is how long an address is waited for before the next one is tried
	// beside it (RFC 8305, section 5; longer, as a coordinator may be busy).
	dialStagger = 500 * time.Millisecond
	// keepAlive is the interval of TCP's own probes; that the peer's berth is alive is
	// for heartbeats to find out.
	keepAlive = 30 * time.Second
)

// Dial connects a worker to its coordinator, at whichever of the bundle's addresses
// proves first to be the coordinator's. They are tried in their order, the next one as
// soon as one has failed or has not answered for a moment: one that swallows what is sent
// to it, or where a stranger answers, keeps no worker from the others.
//
// Errors are of class Transient if trying again may help, and Fatal if the two do not know
// each other; as bundles are replaced, the latter may pass too once the bundle is loaded anew.
func Dial(ctx context.Context, b *Bundle) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	r := &race{ctx: ctx, bundle: b, results: make(chan dialed, len(b.Addrs))}
	c, err := r.run()
	if r.running > 0 {
		go r.dismiss()
	}
	return c, err
}

// race is one try at all addresses of a bundle.
type race struct {
	ctx     context.Context // ends with the race
	bundle  *Bundle
	next    int // address to be tried next
	running int
	results chan dialed // holds those of all addresses, so that nobody waits to tell
}

type dialed struct {
	conn *Conn
	err  error
}

// run returns the first connection that is the coordinator's.
func (r *race) run() (*Conn, error) {
	var errs []error
	for r.start(); r.running > 0; r.start() {
		var waited <-chan time.Time
		if r.next < len(r.bundle.Addrs) {
			waited = time.After(dialStagger)
		}
		select {
		case <-waited:
		case d := <-r.results:
			r.running--
			if d.err == nil {
				return d.conn, nil
			}
			errs = append(errs, d.err)
		}
	}
	return nil, r.lost(errs)
}

// start tries the next address, if there is one.
func (r *race) start() {
	if r.next == len(r.bundle.Addrs) {
		return
	}
	addr := r.bundle.Addrs[r.next]
	r.next++
	r.running++
	go func() {
		c, err := dialAt(r.ctx, addr, r.bundle.Identity)
		r.results <- dialed{c, err}
	}()
}

// dismiss hangs up on those who connect when the race is over.
func (r *race) dismiss() {
	for ; r.running > 0; r.running-- {
		if d := <-r.results; d.err == nil {
			d.conn.Close() //nolint:errcheck // nothing was said on it
		}
	}
}

// lost says why no address was the coordinator's.
func (r *race) lost(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	all := &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: "coordinator", What: "none of its addresses will do"}
	for _, err := range errs {
		if job.ClassOf(err) == job.Transient {
			all.Class = job.Transient
		}
		if all.Err == nil {
			all.Err = err
		} else {
			all.Err = fmt.Errorf("%w; %w", all.Err, err)
		}
	}
	if all.Err == nil {
		all.Err = errors.New("the bundle has none")
	}
	return all
}

// dialAt connects to one address.
func dialAt(ctx context.Context, addr string, id *Identity) (*Conn, error) {
	d := net.Dialer{KeepAlive: keepAlive, Timeout: connectTime}
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, &job.Error{Class: job.Transient, Code: job.CodeIO, Where: addr, What: "cannot reach the coordinator", Err: err}
	}
	return DialOver(ctx, raw, addr, id)
}

// DialOver is Dial over a connection to the coordinator that stands. addr is what it is called in errors.
func DialOver(ctx context.Context, raw net.Conn, addr string, id *Identity) (*Conn, error) {
	nc := tls.Client(newTransport(raw), ClientTLS(id))
	if err := nc.HandshakeContext(ctx); err != nil {
		raw.Close() //nolint:errcheck // the handshake's error says it
		return nil, refused(addr, err)
	}
	return NewConn(nc), nil
}
