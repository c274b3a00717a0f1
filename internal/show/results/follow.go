package results

import (
	"errors"
	"io/fs"

	"berth/internal/core/event"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// Follower prints the outputs of a bag's tasks as the run's journal says that they are over.
type Follower struct {
	printer *Printer
	path    string // of the journal
	at      int64  // how far it was read
	fold    *report.Job
	err     error // of printing
}

// Follow returns the follower of a run from its beginning.
func Follow(r statedir.Run, p *Printer) (*Follower, error) {
	d, err := rundir.Open(r)
	if err != nil {
		return nil, err
	}
	f := &Follower{printer: p, path: r.Journal()}
	info := rundir.Info(r, d)
	info.OnTask = func(e report.End) {
		if f.err == nil {
			f.err = p.Over(e)
		}
	}
	f.fold = report.New(info)
	return f, nil
}

// Look prints what has ended since the last call.
func (f *Follower) Look() error {
	at, err := journal.Since(f.path, f.at, func(e event.Entry) error {
		f.fold.Apply(e)
		return f.err
	})
	f.at = at
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the coordinator has not begun it
	}
	if err == nil {
		err = f.printer.Late()
	}
	return err
}

// Ended tells a printer how the tasks of a run ended that are over. One of a bag whose output is collected needs it before it prints them.
func Ended(r statedir.Run, p *Printer) error {
	d, err := rundir.Open(r)
	if err != nil {
		return err
	}
	info := rundir.Info(r, d)
	info.OnTask = p.ended
	fold := report.New(info)
	_, err = journal.Since(r.Journal(), 0, func(e event.Entry) error {
		fold.Apply(e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// End prints what is left once the job is over.
func (f *Follower) End() error {
	if err := f.Look(); err != nil {
		return err
	}
	return f.printer.Rest()
}
