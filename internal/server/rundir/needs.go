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
	"berth/internal/server/report"
)

// OwnNeeds returns what a task needs that is not as for its bag, and its place in the input.
type OwnNeeds func(task int) (own job.Needs, where string, err error)

// EntryNeeds returns what the columns of a bag's entries say; nil if they say nothing.
func EntryNeeds(b *job.BagSpec, at func(i int) job.Entry) OwnNeeds {
	if b == nil || b.NeedsFrom == nil {
		return nil
	}
	return func(i int) (job.Needs, string, error) {
		own, err := parse.OwnNeeds(b, at(i))
		return own, fmt.Sprintf("entry %d", i+1), err
	}
}

// List returns the needs of so many tasks, rounded by coarse, which is asked once about equal ones, so that there are few different ones.
func (of OwnNeeds) List(tasks int, coarse func(own job.Needs, where string) (job.Needs, error)) (list job.NeedsList, err error) {
	known := make(map[job.Needs]job.Needs)
	for i := range tasks {
		own, where, err := of(i)
		if err != nil {
			return list, err
		}
		as, ok := known[own]
		if !ok {
			if as, err = coarse(own, where); err != nil {
				return list, err
			}
			known[own] = as
		}
		list.Add(as)
	}
	return list, nil
}

// left returns how many of so many tasks have which needs, rounded up where a node has as much.
func (of OwnNeeds) left(spec *job.Spec, tasks int, snap *cluster.Snapshot) ([]job.NeedsLeft, error) {
	list, err := of.List(tasks, func(own job.Needs, _ string) (job.Needs, error) { return roomy(own, spec, snap), nil })
	return leftOf(spec, tasks, list), err
}

func leftOf(spec *job.Spec, tasks int, list job.NeedsList) []job.NeedsLeft {
	w := job.Work{Kind: job.Bag, Tasks: tasks, Terms: spec.Terms(), Further: list.Further, Which: list.Runs()}
	return w.Left()
}

// nameTask names the first of so many tasks that no node has room for in the error that says so.
func (of OwnNeeds) nameTask(err error, spec *job.Spec, tasks int) error {
	none, what := (*plan.NoRoom)(nil), (*job.Error)(nil)
	if of == nil || !errors.As(err, &none) || !errors.As(err, &what) {
		return err
	}
	bag := spec.Bag.Needs()
	for i := range tasks {
		own, where, _ := of(i) // it was read before
		if n := own.In(bag); n != none.Needs && own.Coarse().In(bag) != none.Needs {
			continue
		}
		named := *what
		named.Where = where
		if own.In(bag).Several() { // the error says how many nodes it needs
			return &named
		}
		named.What = "the task needs " + own.In(bag).Words()
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
	need := coarse.In(spec.Bag.Needs())
	for i := range snap.Nodes {
		if need.NodesOf(snap.Nodes[i].Capacity) > 0 {
			return coarse
		}
	}
	return own
}

// leftByNeeds returns how many tasks of a run that is over are not done, by their needs, with the spec that it is resumed with; nil where
// all have those of the bag. again means that failed tasks run again.
func leftByNeeds(fold *report.Job, d *Decided, spec *job.Spec, again bool) []job.NeedsLeft {
	if spec.Bag == nil || spec.Bag.NeedsFrom == nil && d.Tasks.More == nil {
		return nil
	}
	bag := spec.Bag.Needs()
	left, index := []job.NeedsLeft{{Needs: bag}}, map[job.Needs]int{bag: 0}
	for t := range fold.Tasks(nil, nil) {
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
		return nil
	}
	return left
}

// OwnProfiles returns the profiles of the applications that needs name, by the index of the needs; nil if none is known.
func OwnProfiles(ctx context.Context, s *history.Store, spec *job.Spec, needs []job.NeedsLeft, nodeType string) (own []plan.Own) {
	for i, n := range needs {
		if n.Needs.Application == "" || n.Needs.Application == spec.Application {
			continue
		}
		named := *spec
		named.Application = n.Needs.Application
		prof, err := s.Profile(ctx, predict.Application(&named), nodeType)
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
