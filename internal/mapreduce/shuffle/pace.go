package shuffle

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// leastRate is the slowest that a reduce fetches, bytes/s, so that it is done one day whatever it was granted.
const leastRate = 1 << 20

// Pace holds all fetches of a reduce from other nodes to one rate, which may change while they go on. nil does not.
type Pace struct{ limiter *rate.Limiter }

// NewPace returns the pace for so many bytes/s, 0 for no limit.
func NewPace(bytes int64) *Pace {
	p := &Pace{rate.NewLimiter(rate.Inf, pieceSize)}
	p.Set(bytes)
	return p
}

// Set changes the pace to so many bytes/s, 0 for no limit.
func (p *Pace) Set(bytes int64) {
	limit := rate.Inf
	if bytes > 0 {
		limit = rate.Limit(max(bytes, leastRate))
	}
	if limit != p.limiter.Limit() {
		p.limiter.SetLimit(limit)
	}
}

// limit returns body, read at that pace.
func (p *Pace) limit(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	if p == nil {
		return body
	}
	return &paced{body, ctx, p.limiter}
}

// paced is a body that waits after each read until the next bytes are due.
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
