package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/private"
)

const (
	// dialTime is how long connecting may take, including the handshake.
	dialTime = 10 * time.Second
	// connectTime is how long one address may take to answer, including the lookup of a name. The
	// kernel sends its second SYN after one second.
	connectTime = 3 * time.Second
	// answerTime is how long an address may take to answer each of the first quickTries attempts to connect.
	answerTime = 200 * time.Millisecond
	quickTries = 5
	// dialStagger is the delay before the next address is tried in parallel (RFC 8305, section 5;
	// longer here, because a coordinator may be busy).
	dialStagger = 500 * time.Millisecond
	// keepAlive is the interval of TCP's keep-alive probes. Heartbeats find out whether the peer's
	// process is alive.
	keepAlive = 30 * time.Second
)

// Dial connects a worker to its coordinator, by the first of the bundle's addresses that
// authenticates itself as the coordinator. The addresses are tried in order; the next one is
// started when one has failed or after dialStagger. So an address that does not answer, or where
// another program answers, does not block the others.
//
// The error has class Transient if another attempt may succeed, and Fatal if the two sides do not
// accept each other's keys. Bundles are replaced, so a Fatal error may also pass once the bundle is
// loaded again.
func Dial(ctx context.Context, b *Bundle) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	c, errs := race(b.Addrs, func(addr string) (*Conn, error) { return dialAt(ctx, addr, b.Identity) })
	if c == nil {
		return nil, lost(errs)
	}
	return c, nil
}

// race returns the first connection that is established to one of these addresses, or why there is none. Those that are established
// after it are closed.
func race(addrs []string, dial func(addr string) (*Conn, error)) (*Conn, []error) {
	type dialed struct {
		conn *Conn
		err  error
	}
	results, over := make(chan dialed), make(chan struct{})
	defer close(over)
	var errs []error
	for next := 0; len(errs) < len(addrs); {
		var waited <-chan time.Time
		if next < len(addrs) {
			addr := addrs[next]
			go func() {
				c, err := dial(addr)
				select {
				case results <- dialed{c, err}:
				case <-over:
					if err == nil {
						c.Close() //nolint:errcheck // the connection was not used
					}
				}
			}()
			next++
			waited = time.After(dialStagger)
		}
		select {
		case <-waited:
		case d := <-results:
			if d.err == nil {
				return d.conn, nil
			}
			errs = append(errs, d.err)
		}
	}
	return nil, errs
}

// lost returns the error for a race in which no address was the coordinator's.
func lost(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	all := job.IOError(job.Fatal, "coordinator", "no address of the coordinator can be used", nil)
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
		all.Err = errors.New("the bundle has no address")
	}
	return all
}

// dialAt connects to one address.
func dialAt(ctx context.Context, addr string, id *Identity) (*Conn, error) {
	raw, err := Reach(ctx, addr)
	if err != nil {
		return nil, job.IOError(job.Transient, addr, "cannot reach the coordinator", err)
	}
	return DialOver(ctx, raw, addr, id)
}

// DialOver is Dial over an existing connection to the coordinator. addr is its name in errors.
func DialOver(ctx context.Context, raw net.Conn, addr string, id *Identity) (*Conn, error) {
	nc := tls.Client(newTransport(raw), ClientTLS(id))
	if err := nc.HandshakeContext(ctx); err != nil {
		raw.Close() //nolint:errcheck // the error of the handshake is returned
		return nil, refused(addr, err)
	}
	return NewConn(nc), nil
}

// Reach opens a connection to an address of a bundle, within connectTime. Where too many connections wait in the kernel's
// queue, it drops a new one in silence, and the next attempt may be in time.
func Reach(ctx context.Context, addr string) (net.Conn, error) {
	if isPath(addr) {
		return private.Dial(ctx, addr)
	}
	d := net.Dialer{KeepAlive: keepAlive, Timeout: answerTime}
	for range quickTries {
		c, err := d.DialContext(ctx, "tcp", addr)
		var late net.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &late) || !late.Timeout() {
			return c, err
		}
	}
	d.Timeout = connectTime - quickTries*answerTime
	return d.DialContext(ctx, "tcp", addr)
}

// isPath reports whether an address is that of a Unix socket.
func isPath(addr string) bool { return strings.HasPrefix(addr, "/") }
