package ec2

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// List returns the running machines that berth has rented, in the region of the environment and in the regions where this state folder has rented. It
// needs no coordinator: the machines' tags at the provider contain all information. state is the coordinator's own folder.
func List(ctx context.Context, env []string, state string, now job.Time) ([]driver.MachineStatus, error) {
	own, err := owner(ledgers(state), false)
	if err != nil {
		return nil, err
	}
	clouds, err := regions(ctx, env, state)
	if err != nil {
		return nil, err
	}
	all := []driver.MachineStatus{}
	for _, c := range clouds {
		found, err := c.find(ctx, map[string]string{tagOwner: ""})
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			if !i.lives() {
				continue
			}
			m := driver.MachineStatus{ID: i.ID, Region: c.region, Type: cmp.Or(i.tag(tagType), i.Type), State: i.State, Since: i.since(), Job: i.tag(tagPurpose), Alloc: i.tag(tagAlloc), Foreign: i.tag(tagOwner) != own}
			age := now.Sub(m.Since)
			m.Seconds = max(0, age.Seconds())
			var r job.Rented
			if n, _ := fmt.Sscan(i.tag(tagPrice), &r.Price, &r.Unit, &r.Minimum); n == 3 {
				m.Cost = bill(r, age)
			}
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b driver.MachineStatus) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// regions returns the regions that may have rented machines: the environment's, if it names one, and those in ledgers.
func regions(ctx context.Context, env []string, state string) (all []cloud, err error) {
	names := []string{""}
	files, _ := filepath.Glob(filepath.Join(ledgers(state), "*", ledgerName))
	for _, f := range files {
		if l, err := readLedger(filepath.Dir(f)); err == nil && l != nil && !slices.Contains(names, l.Rent.Region) {
			names = append(names, l.Rent.Region)
		}
	}
	for _, n := range names {
		c, err := connect(ctx, env, n)
		switch {
		case err != nil && (n != "" || len(names) == 1):
			return nil, err
		case err == nil && !slices.ContainsFunc(all, func(other cloud) bool { return other.region == c.region }):
			all = append(all, c)
		}
	}
	return all, nil
}

// Stop ends machines. It returns when the provider has accepted that. No machine is rented in their place.
func Stop(ctx context.Context, env []string, machines []driver.MachineStatus) error {
	byRegion := map[string][]string{}
	for _, m := range machines {
		byRegion[m.Region] = append(byRegion[m.Region], m.ID)
	}
	for region, ids := range byRegion {
		c, err := connect(ctx, env, region)
		if err == nil {
			err = c.stop(ctx, ids)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
