package sim

import "context"

// Run simulates cfg. It returns a *job.Error of class User if cfg is inconsistent, and the error of
// ctx if ctx is cancelled.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	w := newWorld(ctx, &cfg)
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.result, nil
}
