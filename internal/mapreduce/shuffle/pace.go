package shuffle

import (
	"context"
	"io"

	"golang.org/x/time/rate"
)

// leastRate is the slowest that a reduce fetches, bytes/s: a rate that was measured while it waited for maps
// must not keep it from ever being done.
const leastRate = 1 << 20

// pace holds all fetches of a reduce to one rate; nil does not.
type pace struct{ limiter *rate.Limiter }

// newPace returns the pace for so many bytes/s, 0 for no limit.
func newPace(bytes int64) *pace {
	if bytes <= 0 {
		return nil
	}
	return &pace{rate.NewLimiter(rate.Limit(max(bytes, leastRate)), pieceSize)}
}

// limit returns body, read at that pace.
func (p *pace) limit(ctx context.Context, body io.ReadCloser) io.ReadCloser {
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
	n, err := r.ReadCloser.Read(b[:min(len(b), pieceSize)])
	if n > 0 {
		if werr := r.limiter.WaitN(r.ctx, n); werr != nil {
			return n, werr
		}
	}
	return n, err
}
