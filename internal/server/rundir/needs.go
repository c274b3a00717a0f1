package rundir

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/internal/sys/statedir"
)

// needsOf returns how many of a bag's entries have which needs: those of their columns, else those that were chosen for them; nil where all
// have those of the bag.
func needsOf(spec *job.Spec, entries []job.Entry, snap *cluster.Snapshot, chosen job.NeedsList) (left []job.NeedsLeft, err error) {
	if spec.Bag == nil {
		return nil, nil
	}
	list := chosen
	if spec.Bag.NeedsFrom != nil {
		if list, err = coarseNeeds(spec, len(entries), snap, columns(spec, entries)); err != nil {
			return nil, err
		}
	}
	if spec.Bag.NeedsFrom == nil && list.Runs() == nil {
		return nil, nil
	}
	w := job.Work{Kind: job.Bag, Tasks: len(entries), Terms: spec.Terms(), Further: list.Further, Which: list.Runs()}
	return w.Left(), nil
}

// columns returns the function that reads the needs in the columns of entries.
func columns(spec *job.Spec, entries []job.Entry) func(i int) (job.Needs, error) {
	return func(i int) (job.Needs, error) { return parse.OwnNeeds(spec.Bag, entries[i]) }
}

// coarseNeeds returns the needs of so many tasks, rounded up where a node has as much, so that there are few different ones. of returns what a task needs
// that is not as for the bag.
func coarseNeeds(spec *job.Spec, tasks int, snap *cluster.Snapshot, of func(i int) (job.Needs, error)) (list job.NeedsList, err error) {
	known := make(map[job.Needs]job.Needs)
	for i := range tasks {
		own, err := of(i)
		if err != nil {
			return list, err
		}
		as, ok := known[own]
		if !ok {
			as = roomy(own, spec, snap)
			known[own] = as
		}
		list.Add(as)
	}
	return list, nil
}

// nameEntry names the first entry that no node has room for in the error that says so.
func nameEntry(err error, spec *job.Spec, entries []job.Entry) error {
	if spec.Bag == nil || spec.Bag.NeedsFrom == nil {
		return err
	}
	return nameTask(err, spec, len(entries), func(i int) (job.Needs, string) {
		own, _ := parse.OwnNeeds(spec.Bag, entries[i]) // needsOf has read it
		return own, fmt.Sprintf("entry %d", i+1)
	})
}

// nameTask names the first of so many tasks that no node has room for in the error that says so. of returns what a task needs that is not as for the
// bag, and its place in the input.
func nameTask(err error, spec *job.Spec, tasks int, of func(i int) (job.Needs, string)) error {
	none, what := (*plan.NoRoom)(nil), (*job.Error)(nil)
	if !errors.As(err, &none) || !errors.As(err, &what) {
		return err
	}
	bag := spec.Bag.Needs()
	for i := range tasks {
		own, where := of(i)
		if n := own.In(bag); n != none.Needs && own.Coarse().In(bag) != none.Needs {
			continue
		}
		named := *what
		named.Where, named.What = where, "the task needs "+own.In(bag).Resources().Words()
		if _, why, cut := strings.Cut(what.What, ", but "); cut {
			named.What += ", but " + why
		}
		return &named
	}
	return err
}

// roomy returns needs rounded up, or as they are if no node has room for so much.
func roomy(own job.Needs, spec *job.Spec, snap *cluster.Snapshot) job.Needs {
	coarse := own.Coarse()
	need := coarse.In(spec.Bag.Needs()).Resources()
	for i := range snap.Nodes {
		if need.Fits(snap.Nodes[i].Capacity) {
			return coarse
		}
	}
	return own
}

// leftByNeeds returns how many tasks of a run that is over are not done, by their needs, with the spec that it is resumed with; nil where
// all have those of the bag. again means that failed tasks run again.
func leftByNeeds(r statedir.Run, d *Decided, spec *job.Spec, again bool) ([]job.NeedsLeft, error) {
	if spec.Bag == nil || spec.Bag.NeedsFrom == nil && d.Tasks.More == nil {
		return nil, nil
	}
	fold, err := Fold(r, nil)
	if err != nil {
		return nil, err
	}
	bag := spec.Bag.Needs()
	left, index := []job.NeedsLeft{{Needs: bag}}, map[job.Needs]int{bag: 0}
	for t := range fold.Tasks(nil, nil, nil) {
		if t.State == "done" || t.State == "failed" && !again {
			continue
		}
		s, ok := d.Tasks.Task(spec.Bag, t.Task)
		if !ok {
			continue
		}
		n := s.Needs.Coarse().In(bag)
		k, known := index[n]
		if !known {
			k = len(left)
			index[n], left = k, append(left, job.NeedsLeft{Needs: n})
		}
		left[k].Waiting++
	}
	if len(left) == 1 {
		return nil, nil
	}
	return left, nil
}

// OwnProfiles returns the profiles of the applications that needs name, by the index of the needs; nil if none is known.
func OwnProfiles(ctx context.Context, s *history.Store, spec *job.Spec, needs []job.NeedsLeft, nodeType string) (own []plan.Own) {
	for i, n := range needs {
		if n.Needs.Application == "" || n.Needs.Application == spec.Application {
			continue
		}
		named := *spec
		named.Application = n.Needs.Application
		prof, err := profileOf(ctx, s, predict.Application(&named), nodeType)
		if err != nil || prof == nil {
			continue
		}
		if own == nil {
			own = make([]plan.Own, len(needs))
		}
		own[i].Profile = prof
	}
	return own
}
