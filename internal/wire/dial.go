package wire

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"berth/internal/job"
)

const (
	// dialTime is how long connecting may take, the handshake included.
	dialTime = 10 * time.Second
	// keepAlive is the interval of TCP's own probes; that the peer's berth is alive is
	// for heartbeats to find out.
	keepAlive = 30 * time.Second
)

// Dial connects a worker to its coordinator. Errors are of class Transient if trying
// again may help, and Fatal if the two do not know each other; as bundles are
// replaced, the latter may pass too once the bundle is loaded anew.
func Dial(ctx context.Context, b *Bundle) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	d := net.Dialer{KeepAlive: keepAlive}
	raw, err := d.DialContext(ctx, "tcp", b.Addr)
	if err != nil {
		return nil, &job.Error{Class: job.Transient, Code: job.CodeIO, Where: b.Addr, What: "cannot reach the coordinator", Err: err}
	}
	return dialOver(ctx, raw, b)
}

// dialOver is Dial over a connection that stands.
func dialOver(ctx context.Context, raw net.Conn, b *Bundle) (*Conn, error) {
	nc := tls.Client(newTransport(raw), ClientTLS(b.Identity))
	if err := nc.HandshakeContext(ctx); err != nil {
		raw.Close() //nolint:errcheck // the handshake's error says it
		return nil, refused(b.Addr, err)
	}
	return NewConn(nc), nil
}
