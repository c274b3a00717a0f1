package main

import (
	"context"

	"berth/internal/control"
	"berth/internal/home"
	"berth/internal/job"
)

// spare returns the allocations of a batch system that wait for work, none where no
// coordinator runs.
func spare(ctx context.Context, h home.Home) []job.Live {
	idle, err := control.NewClient(h.Socket()).Idle(ctx)
	if err != nil {
		return nil // whoever needs the coordinator later hears of it
	}
	return idle
}
