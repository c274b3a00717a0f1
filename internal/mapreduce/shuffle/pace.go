package shuffle

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// leastRate is the smallest rate of a reduce in bytes/s, so that its fetches end whatever it was granted.
const leastRate = 1 << 20

// Pace limits all fetches of a reduce from other nodes to one rate, which may change during the fetches.
// A nil Pace does not limit them.
type Pace struct{ limiter *rate.Limiter }

// NewPace returns a pace of this many bytes/s; 0 means no limit.
func NewPace(bytes int64) *Pace {
	p := &Pace{rate.NewLimiter(rate.Inf, pieceSize)}
	p.Set(bytes)
	return p
}

// Set changes the rate to this many bytes/s; 0 means no limit.
func (p *Pace) Set(bytes int64) {
	limit := rate.Inf
	if bytes > 0 {
		limit = rate.Limit(max(bytes, leastRate))
	}
	if limit != p.limiter.Limit() {
		p.limiter.SetLimit(limit)
	}
}

// limit returns body, limited to the pace.
func (p *Pace) limit(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	if p == nil {
		return body
	}
	return &paced{body, ctx, p.limiter}
}

// paced is a body that waits after each read until the next read is allowed.
type paced struct {
	io.ReadCloser
	ctx     context.Context
	limiter *rate.Limiter
}

func (r *paced) Read(b []byte) (int, error) {
	if r.limiter.Limit() == rate.Inf {
		return r.ReadCloser.Read(b)
	}
	n, err := r.ReadCloser.Read(b[:min(len(b), pieceSize)])
	if n > 0 {
		if werr := r.limiter.WaitN(r.ctx, n); werr != nil {
			return n, werr
		}
	}
	return n, err
}
