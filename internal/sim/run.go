package sim

import "context"

// Run simulates. It fails where the Config makes no sense (a *job.Error of class User) and
// when ctx is cancelled.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	panic("not yet")
}
