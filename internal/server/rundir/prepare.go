package rundir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/input"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// Prepare gives a decided job its id and its folder, and creates its output folder or job log.
func Prepare(h statedir.Home, d *Decided) (statedir.Run, error) {
	r, err := h.NewRun(d.Spec.Kind, hasOutput(d.Spec))
	if err != nil {
		return statedir.Run{}, err
	}
	d.Spec.ID = r.ID
	err = statedir.Together(func() error { return r.Save(d.Spec, d.Tasks) }, func() error { return statedir.WriteJSON(r.Plan(), d.Plan) })
	switch {
	case err != nil:
	case d.Spec.Kind == job.MapReduce:
		err = mapreduce.PrepareOutput(d.Spec.MapReduce, r.ID)
	case d.Spec.Bag.Joblog != "":
		err = report.CreateJoblog(d.Spec.Bag.Joblog) // here, where the user sees the error and the user's umask applies
	}
	if err != nil {
		return statedir.Run{}, errors.Join(err, h.Remove(r.ID)) // remove everything that was created
	}
	return r, nil
}

// hasOutput returns a function that reports whether a bag of an id has left output where this job's output goes, from
// an earlier state folder or another user. The two outputs must not be mixed.
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

// HandedIn reports whether a coordinator has taken the run on. Else its command died on the way, or a crash of the
// machine took the first records of its journal.
func HandedIn(r statedir.Run) bool {
	enough := errors.New("the journal has a record")
	_, err := journal.Replay(r.Journal(), func(event.Entry) error { return enough })
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Discard undoes Prepare when no coordinator has taken the job on: one that did not answer in time may have.
func Discard(r statedir.Run, spec *job.Spec) error {
	if HandedIn(r) {
		return nil
	}
	var err error
	if spec.Kind == job.MapReduce {
		err = mapreduce.AbortJob(spec.MapReduce, r.ID)
	}
	return errors.Join(err, r.Home.Remove(r.ID))
}

// Replan plans the rest of a run that is over, on the present state of its backend and with the spec as change
// modifies it. Spec and plan are saved with the run; splits stay the same. again means that failed tasks of a bag run
// again. undo restores the earlier spec and plan.
func Replan(ctx context.Context, r statedir.Run, again bool, change func(*job.Spec) error) (undo func() error, err error) {
	d, err := Open(r)
	if err != nil {
		return nil, err
	}
	spec, err := r.Spec()
	if err != nil {
		return nil, err
	}
	if err := change(spec); err != nil {
		return nil, err
	}
	fold, err := Fold(r)
	if err == nil {
		err = checkInput(fold, d)
	}
	if err != nil {
		return nil, err
	}
	at, err := observe(ctx, spec)
	if err != nil {
		return nil, err
	}
	v := fold.Unattended()
	tasks, err := d.Tasks.Len()
	if err == nil && spec.Bag != nil && len(spec.Bag.Earlier) > len(d.Spec.Bag.Earlier) {
		spec.Bag.Earlier[len(d.Spec.Bag.Earlier)].Done = v.TasksDone
		err = checkCommand(spec.Bag, d.Tasks, tasks)
	}
	if err != nil {
		return nil, err
	}
	counts := plan.Counts{Tasks: tasks, InputBytes: d.Plan.InputBytes}
	at.chooseMemory(ctx, r.Home, spec, nil) // the needs of tasks are on record
	rest := left(spec, counts, v, again)
	rest.Needs = leftByNeeds(fold, d, spec, again)
	p, err := at.decide(ctx, r.Home, spec, counts, rest)
	if err != nil {
		return nil, err
	}
	p.Further, p.Which = d.Plan.Further, d.Plan.Which
	undo = func() error { return save(r, d.Spec, d.Plan) }
	return undo, save(r, spec, p)
}

// checkCommand returns an error if the tasks of a bag cannot have a new command.
func checkCommand(b *job.BagSpec, tasks statedir.Tasks, n int) error {
	own, columns := 0, 0
	for i := range n {
		s, _ := tasks.Task(b, i)
		if s.Command != nil {
			own++
		}
		columns = max(columns, len(s.Entry))
	}
	if own == n {
		return job.ArgumentError("--command", "all tasks of the bag have commands of their own", "submit them as a new bag")
	}
	return parse.CheckColumns(b, columns)
}

// checkInput returns an error if a map of a run is not done whose input is not what it was when the job was planned.
func checkInput(fold *report.Job, d *Decided) error {
	if d.Spec.MapReduce == nil {
		return nil
	}
	var left []job.Split
	for t := range fold.Tasks(nil, nil) {
		if t.State != "done" && t.Task < len(d.Tasks.Splits) {
			left = append(left, d.Tasks.Splits[t.Task])
		}
	}
	return input.Check(left)
}

// save writes a spec and its plan into a run's folder.
func save(r statedir.Run, spec *job.Spec, p plan.Plan) error {
	return errors.Join(r.SaveSpec(spec), statedir.WriteJSON(r.Plan(), p))
}

// left returns the unfinished tasks of a run that is over. It uses the job's own size and not an earlier plan, which
// may concern a part of the job.
func left(spec *job.Spec, whole plan.Counts, v report.JobView, again bool) *job.Remaining {
	if spec.Kind == job.Bag {
		rest := &job.Remaining{Tasks: whole.Tasks - v.TasksDone}
		if !again {
			rest.Tasks -= v.TasksFailed
		}
		return rest
	}
	rest := &job.Remaining{Tasks: whole.Tasks, Reduces: spec.MapReduce.Reduces}
	for _, ph := range v.Phases {
		switch p := job.PhaseNamed(ph.Phase); {
		case p.Main() && p.Kind() == job.ReduceTask:
			rest.Reduces -= ph.Done
		case p.Main():
			rest.Tasks -= ph.Done
		}
	}
	return rest
}

// Open reads spec, tasks and plan of a run.
func Open(r statedir.Run) (*Decided, error) {
	spec, tasks, err := r.Load()
	if err != nil {
		return nil, err
	}
	p, err := LoadPlan(r)
	return &Decided{Spec: spec, Tasks: tasks, Plan: p}, err
}

// LoadPlan reads the plan of a run.
func LoadPlan(r statedir.Run) (plan.Plan, error) {
	var p plan.Plan
	err := statedir.WithAdvice(statedir.ReadJSON(r.Plan(), &p))
	if o := p.Outlook; o != nil {
		o.Start = max(o.Start, o.Wait) // plans of older versions have no start
	}
	return p, err
}
