package rundir

import (
	"io"
	"iter"
	"sync"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// Info returns the data of a report that are not in a run's records.
func Info(r statedir.Run, d *Decided) report.Info {
	spec, tasks, p := d.Spec, d.Tasks, d.Plan
	in := report.Info{ID: r.ID, Name: spec.Name, Kind: spec.Kind, Tasks: p.Tasks + p.Reduces,
		Application: p.App, Planned: report.Planned{Decision: p.Decision(), Notes: p.Notes, Power: spec.Request.NodePower}, TaskInput: taskInput(spec, tasks)}
	if p.Predicted != nil {
		in.Predicted = &report.Prediction{LowSeconds: p.Predicted.Low, UpSeconds: p.Predicted.Up, Source: p.Source}
	}
	if p.Outlook != nil {
		in.Expected, in.Start = &p.Outlook.Expectation, p.Start
	}
	if spec.Bag != nil {
		in.Notes = append(spec.Bag.Changes(), in.Notes...)
	}
	if spec.Kind == job.MapReduce {
		in.Output, in.Logs = spec.MapReduce.Output, r.Logs()
		return in
	}
	in.TaskName = func(task int) string { return tasks.Name(spec, task) }
	if spec.Bag.Stdout != job.Discard {
		in.Output = job.OutputFolder(spec.Bag.Stdout, r.ID)
	}
	if spec.Bag.Stderr != job.Discard {
		in.Stderr = func(task int) (file, command string) {
			if spec.Bag.Collect || spec.Bag.OfEachRank(spec.Bag.Stderr) {
				return "", "berth cat --stderr " + string(r.ID) + " " + tasks.Name(spec, task)
			}
			if own, entry, ok := tasks.Of(spec, task); ok {
				file = own.Bag.OutputPath(own.Bag.Stderr, r.ID, entry, task, 0)
			}
			return file, ""
		}
	}
	return in
}

// taskInput returns the function that describes the input of a run's tasks; a reduce has none of its own.
func taskInput(spec *job.Spec, tasks statedir.Tasks) func(task int) string {
	return func(task int) string {
		switch {
		case task < len(tasks.Splits):
			return tasks.Splits[task].Describe()
		case spec.Kind == job.Bag:
			if own, entry, ok := tasks.Of(spec, task); ok {
				return own.Bag.Describe(entry)
			}
		}
		return ""
	}
}

// View returns the state of a run from its folder alone, without a coordinator: the summary that was written when it
// ended, else the state by its journal.
func View(r statedir.Run) (report.JobView, error) {
	var v report.JobView
	if statedir.ReadJSON(r.Summary(), &v) == nil {
		return v, nil
	}
	fold, err := Fold(r)
	if err != nil {
		return v, err
	}
	return fold.Unattended(), nil
}

// Tasks returns the tasks of a run, or those of these names, one at a time. The journal is read when the first one is asked for, unless there are
// names, and if it cannot be read the error is the last that comes.
func Tasks(r statedir.Run, names []string) (iter.Seq2[report.TaskStatus, error], error) {
	f, err := Follow(r, func(in *report.Info) { in.Tries = new(report.Tries) })
	if err != nil {
		return nil, err
	}
	var some []int
	read := sync.OnceValue(func() error { return f.toEnd(func() error { return nil }) })
	if len(names) > 0 {
		if err = read(); err == nil {
			some, err = f.Fold.Find(names)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(yield func(report.TaskStatus, error) bool) {
		if err := read(); err != nil {
			yield(report.TaskStatus{}, err)
			return
		}
		for t := range f.Fold.Tasks(some, f.need) {
			if !yield(t, nil) {
				return
			}
		}
		if err := f.Decided.Tasks.More.Err(); err != nil {
			yield(report.TaskStatus{}, err)
		}
	}, nil
}

// Rows returns the attempts of a run that are over, one at a time while its journal is read. If that cannot be read the error is the last that comes.
func Rows(r statedir.Run) iter.Seq2[report.AttemptRow, error] {
	return func(yield func(report.AttemptRow, error) bool) {
		var rows []report.AttemptRow // of one entry
		enough := false
		f, err := Follow(r, func(in *report.Info) { in.OnAttempt = func(row report.AttemptRow) { rows = append(rows, row) } })
		if err == nil {
			err = f.toEnd(func() error {
				for _, row := range rows {
					if enough = !yield(row, nil); enough {
						return io.EOF // so that no more entries are read
					}
				}
				rows = rows[:0]
				return nil
			})
		}
		if err != nil && !enough {
			yield(report.AttemptRow{}, err)
		}
	}
}

// need returns what a task of a bag needs.
func (f *Follower) need(task int) (need job.Resources, ok bool) {
	d := f.Decided
	if d.Spec.Bag == nil {
		return need, false
	}
	own, _, ok := d.Tasks.Of(d.Spec, task)
	return own.Bag.Need, ok
}

// Damaged returns the known state of a run whose folder or journal cannot be read, with the reason.
func Damaged(r statedir.Run, why error) report.JobView {
	v := report.JobView{Status: report.Status{ID: r.ID, State: report.StateDamaged}, Reason: why.Error()}
	if spec, err := r.Spec(); err == nil {
		v.Name, v.Kind = spec.Name, spec.Kind
	}
	if p, err := LoadPlan(r); err == nil {
		v.TasksTotal, v.Submitted = p.Tasks+p.Reduces, p.At.Std()
	}
	return v
}

// Fold replays a run's journal.
func Fold(r statedir.Run) (*report.Job, error) { return fold(r, func(*report.Info) {}) }

// FoldUsage replays a run's journal and adds to u the use of nodes by its phases.
func FoldUsage(r statedir.Run, u *report.Usage) error {
	_, err := fold(r, func(in *report.Info) { in.Usage = u })
	return err
}

// fold replays a run's journal with the info that set completes.
func fold(r statedir.Run, set func(*report.Info)) (*report.Job, error) {
	f, err := Follow(r, set)
	if err != nil {
		return nil, err
	}
	return f.Fold, f.toEnd(func() error { return nil })
}

// toEnd folds the whole journal, and calls each as Look does.
func (f *Follower) toEnd(each func() error) error {
	added := 0
	err := f.Look(func(e event.Entry) error {
		if a, ok := e.Record.(event.TasksAdded); ok {
			added += a.N
		}
		return each()
	})
	if more := f.Decided.Tasks.More; err == nil && f.at > 0 && more != nil { // else its command ended before the coordinator started the job
		err = more.Check(added)
	}
	return err
}
