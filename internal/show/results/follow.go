package results

import (
	"cmp"

	"berth/internal/core/event"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// Follower prints the outputs of a bag's tasks when the run's journal shows that they are over.
type Follower struct {
	*rundir.Follower
	printer *Printer
}

// Follow returns a follower that reads the journal of a run from its beginning.
func Follow(r statedir.Run, p *Printer) (f *Follower, err error) {
	f = &Follower{printer: p}
	f.Follower, err = p.follow(r, func(in *report.Info) { in.OnTask = p.Over })
	return f, err
}

// follow returns the follower of the printer's run, whose tasks are read already.
func (p *Printer) follow(r statedir.Run, set func(*report.Info)) (*rundir.Follower, error) {
	plan, err := rundir.LoadPlan(r)
	return rundir.FollowDecided(r, &rundir.Decided{Spec: p.spec, Tasks: p.tasks, Plan: plan}, set), err
}

// Look prints the outputs of the tasks that have ended since the last call.
func (f *Follower) Look() error {
	err := f.Follower.Look(func(event.Entry) error { return nil })
	return cmp.Or(err, f.printer.PrintOver()) // what is over is printed even if the journal cannot be read further
}

// Known returns what reads from the journal how the tasks of a run ended. Each call of look reads what was added. The
// printer of a bag whose output is collected needs that before it prints a task.
func Known(r statedir.Run, p *Printer) (look func() error, err error) {
	f, err := p.follow(r, func(in *report.Info) { in.OnTask, in.OnOver = p.ended, p.attempted })
	if err != nil {
		return nil, err
	}
	return func() error { return f.Look(func(event.Entry) error { return p.printDone() }) }, nil
}

// End prints the remaining outputs when the job is over.
func (f *Follower) End() error {
	if err := f.Look(); err != nil {
		return err
	}
	if err := f.printer.Rest(); err != nil {
		return err
	}
	return f.printer.Missing()
}
