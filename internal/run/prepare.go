package run

import (
	"context"
	"errors"
	"os"
	"strings"

	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/mapreduce"
	"berth/internal/plan"
)

// Prepare gives a decided job its id and its folder, and makes its output folder.
func Prepare(h home.Home, d *Decided) (home.Run, error) {
	r, err := h.NewRun(d.Spec.Kind, hasOutput(d.Spec))
	if err != nil {
		return home.Run{}, err
	}
	d.Spec.ID = r.ID
	err = r.Save(d.Spec, d.Tasks)
	if err == nil {
		err = home.WriteJSON(r.Plan(), d.Plan)
	}
	if err == nil && d.Spec.Kind == job.MapReduce {
		err = mapreduce.PrepareOutput(d.Spec.MapReduce)
	}
	if err != nil {
		return home.Run{}, errors.Join(err, r.Remove()) // nothing half done stays
	}
	return r, nil
}

// hasOutput returns what tells of an id whether a bag of that id has left output
// where this one's goes: one of an earlier state folder, or of another user. It
// shall not be mixed up with this one's.
func hasOutput(spec *job.Spec) func(job.ID) bool {
	if spec.Kind != job.Bag {
		return nil
	}
	return func(id job.ID) bool {
		for _, template := range []string{spec.Bag.Stdout, spec.Bag.Stderr} {
			before, after, named := strings.Cut(template, "{job}")
			if !named {
				continue
			}
			rest, _, _ := strings.Cut(after, "/")
			if strings.Contains(before+rest, "{task}") {
				continue
			}
			if _, err := os.Lstat(before + string(id) + rest); err == nil {
				return true
			}
		}
		return false
	}
}

// Discard undoes Prepare: the coordinator did not take the job on.
func Discard(r home.Run, spec *job.Spec) error {
	var err error
	if spec.Kind == job.MapReduce {
		err = mapreduce.AbortJob(spec.MapReduce)
	}
	return errors.Join(err, r.Remove())
}

// Replan plans what is left of a run that is over, on what there is now and within
// what change makes of the request. Splits stay as they are.
func Replan(ctx context.Context, h home.Home, r home.Run, change func(*job.Request)) (plan.Plan, error) {
	spec, tasks, err := r.Load()
	if err != nil {
		return plan.Plan{}, err
	}
	old, err := LoadPlan(r)
	if err != nil {
		return plan.Plan{}, err
	}
	change(&spec.Request)
	at, err := look(ctx, spec)
	if err != nil {
		return plan.Plan{}, err
	}
	var rest *plan.Rest
	if at.snap.Queue != nil {
		if rest, err = left(r, old); err != nil {
			return plan.Plan{}, err
		}
	}
	p, err := at.decide(ctx, h, spec, plan.Counts{Tasks: len(tasks.Entries) + len(tasks.Splits), InputBytes: old.InputBytes}, rest)
	if err != nil {
		return plan.Plan{}, err
	}
	return p, home.WriteJSON(r.Plan(), p)
}

// left returns what is not done of a run that is over.
func left(r home.Run, p plan.Plan) (*plan.Rest, error) {
	v, err := View(r)
	if err != nil {
		return nil, err
	}
	if p.Kind == job.Bag {
		return &plan.Rest{Tasks: p.Tasks - v.TasksDone}, nil
	}
	rest := &plan.Rest{Tasks: p.Tasks, Reduces: p.Reduces}
	for _, ph := range v.Phases {
		switch ph.Phase {
		case job.PhaseMap.String():
			rest.Tasks -= ph.Done
		case job.PhaseReduce.String():
			rest.Reduces -= ph.Done
		}
	}
	return rest, nil
}

// LoadPlan reads what was decided for a run.
func LoadPlan(r home.Run) (plan.Plan, error) {
	var p plan.Plan
	err := home.ReadJSON(r.Plan(), &p)
	return p, err
}
