package rundir

import (
	"cmp"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

// Limited returns the spec by which a job is planned: no more tasks of a bag run at once than the limits of what they use allow, and the licences of
// the batch system that are free, or that it has if none is free.
func Limited(h statedir.Home, spec *job.Spec, snap *cluster.Snapshot) *job.Spec {
	if spec.Bag == nil || spec.Bag.Uses == "" {
		return spec
	}
	limits, err := h.Limits()
	if snap.Queue != nil {
		for _, l := range snap.Queue.Licences {
			if limit, there := limits[l.Name]; there {
				limits[l.Name] = min(limit, cmp.Or(l.Free, l.Total))
			}
		}
	}
	most := spec.Bag.Uses.Most(limits)
	if err != nil || spec.Bag.Throttle > 0 && spec.Bag.Throttle <= most {
		return spec
	}
	limited, bag := *spec, *spec.Bag
	bag.Throttle = most
	limited.Bag = &bag
	return &limited
}
