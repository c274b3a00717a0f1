package worker

import (
	"context"

	"berth/internal/wire"
)

// dial connects to the coordinator. The bundle is read anew: a coordinator that
// came back listens elsewhere.
func (w *worker) dial(ctx context.Context) (conn, error) {
	b, err := wire.LoadBundle(w.cfg.Bundle)
	if err != nil {
		return nil, err
	}
	c, err := wire.Dial(ctx, b)
	if err != nil {
		return nil, err
	}
	if err := w.shuffle.use(b.Identity, c.LocalAddr()); err != nil {
		_ = c.Close() // nothing was said on it
		return nil, err
	}
	return c, nil
}
