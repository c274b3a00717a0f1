package sim

import "context"

// Run simulates. It fails where the Config makes no sense (a *job.Error of class User) and
// when ctx is cancelled.
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
