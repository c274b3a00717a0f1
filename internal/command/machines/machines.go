// Package machines is what the commands of berth machines do: they ask the provider what berth has rented, and end it. No coordinator is needed.
package machines

import (
	"context"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/ec2"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

// List returns the machines that live, by what an environment says of the provider.
func List(ctx context.Context, env []string) (ui.Machines, error) {
	all, err := rented(ctx, env)
	return ui.Machines{Machines: all}, err
}

// Stop ends machines of those ids for good, or without any all that were rented from this state folder. It returns those that it has ended.
func Stop(ctx context.Context, env, ids []string) (ui.Machines, error) {
	all, err := rented(ctx, env)
	if err != nil {
		return ui.Machines{}, err
	}
	wanted, err := chosen(all, ids)
	if err != nil {
		return ui.Machines{}, err
	}
	return ui.Machines{Machines: wanted}, ec2.Stop(ctx, env, wanted)
}

func rented(ctx context.Context, env []string) ([]driver.MachineStatus, error) {
	h, err := statedir.Existing()
	if err != nil {
		return nil, err
	}
	return ec2.List(ctx, env, h.Server(), job.TimeOf(time.Now()))
}

// chosen returns the machines of those ids, or those of this state folder.
func chosen(all []driver.MachineStatus, ids []string) ([]driver.MachineStatus, error) {
	if len(ids) == 0 {
		return slices.DeleteFunc(all, func(m driver.MachineStatus) bool { return m.Foreign }), nil
	}
	var some []driver.MachineStatus
	for _, id := range ids {
		i := slices.IndexFunc(all, func(m driver.MachineStatus) bool { return m.ID == id })
		if i < 0 {
			return nil, job.ArgumentError(id, "berth has no such machine rented", "look at berth machines list")
		}
		some = append(some, all[i])
	}
	return some, nil
}
