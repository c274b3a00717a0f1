package main

import (
	"context"

	"berth/internal/control"
	"berth/internal/home"
	"berth/internal/plan"
	"berth/internal/run"
)

// spare returns the allocations of a batch system that wait for work, none where no
// coordinator runs.
func spare(ctx context.Context, h home.Home) []run.Spare {
	idle, err := control.NewClient(h.Socket()).Idle(ctx)
	if err != nil {
		return nil // whoever needs the coordinator later hears of it
	}
	var out []run.Spare
	for _, a := range idle {
		out = append(out, run.Spare{ID: a.ID, Live: plan.Live{Request: a.Request, Start: a.Began, Ends: a.Ends}})
	}
	return out
}
