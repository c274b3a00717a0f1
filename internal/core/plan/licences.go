package plan

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// usedLicences returns the licences of the batch system of which a bag's tasks use some; none where the user's own arguments request licences.
func usedLicences(snap *cluster.Snapshot, spec *job.Spec) []cluster.Licence {
	if spec.Bag == nil || spec.Bag.Uses == "" || snap.Queue == nil {
		return nil
	}
	own := func(arg string) bool {
		return slices.ContainsFunc(snap.Queue.Words.Licences, func(word string) bool { return strings.HasPrefix(arg, word) })
	}
	if slices.ContainsFunc(spec.Request.BatchArgs, own) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(snap.Queue.Licences), func(l cluster.Licence) bool { return spec.Bag.Uses.Of(l.Name) == 0 })
}

// checkLicences returns an error where a task uses more licences than there are.
func (q *Question) checkLicences() error {
	for _, l := range usedLicences(&q.Snap, q.Spec) {
		if n := q.Spec.Bag.Uses.Of(l.Name); n > l.Total {
			return job.ConfigError("--use", fmt.Sprintf("a task uses %s=%d, and the cluster has %s of that name", l.Name, n, job.Count(l.Total, "licence")), "use less")
		}
	}
	return nil
}

// licences returns those that are requested with a candidate: as many as its tasks can use at once, no more than there are.
func (a *adaptor) licences(c *Candidate) (u job.Uses) {
	for _, l := range usedLicences(&a.q.Snap, a.q.Spec) {
		each := a.q.Spec.Bag.Uses.Of(l.Name)
		most := each
		for i := range a.mix {
			k, n := &a.mix[i], each
			if k.needs != (job.Needs{}) {
				n = k.needs.Uses.Of(l.Name)
			}
			most = max(most, n*max(1, min(c.Take*c.PerNode.Slots(k.Resources)/k.ranks(), a.throttle)))
		}
		u = u.With(l.Name, min(most, l.Total))
	}
	return u
}

// licencesReason says which licences a request asks for, and how many are free.
func (a *adaptor) licencesReason(r job.AllocRequest) string {
	var all []string
	for _, l := range usedLicences(&a.q.Snap, a.q.Spec) {
		all = append(all, fmt.Sprintf("%s=%d (%d of %d are free)", l.Name, r.Batch.Licences.Of(l.Name), l.Free, l.Total))
	}
	return "licences requested with each allocation: " + strings.Join(all, ", ")
}

// gives reports whether an allocation has the licences of the batch system that a task of the job uses.
func gives(snap *cluster.Snapshot, spec *job.Spec, req job.AllocRequest) bool {
	return !slices.ContainsFunc(usedLicences(snap, spec), func(l cluster.Licence) bool { return req.Batch.Licences.Of(l.Name) < spec.Bag.Uses.Of(l.Name) })
}
