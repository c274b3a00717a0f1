package results

import (
	"berth/internal/core/event"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// Follower prints the outputs of a bag's tasks as the run's journal says that they are over.
type Follower struct {
	*rundir.Follower
	printer *Printer
	err     error // of printing
}

// Follow returns the follower of a run from its beginning.
func Follow(r statedir.Run, p *Printer) (f *Follower, err error) {
	f = &Follower{printer: p}
	f.Follower, err = rundir.Follow(r, func(in *report.Info) {
		in.OnTask = func(e report.End) {
			if f.err == nil {
				f.err = p.Over(e)
			}
		}
	})
	return f, err
}

// Look prints what has ended since the last call.
func (f *Follower) Look() error {
	if err := f.Follower.Look(func(event.Entry) error { return f.err }); err != nil {
		return err
	}
	return f.printer.Late()
}

// Ended tells a printer how the tasks of a run ended that are over. One of a bag whose output is collected needs it before it prints them.
func Ended(r statedir.Run, p *Printer) error {
	f, err := rundir.Follow(r, func(in *report.Info) { in.OnTask = p.ended })
	if err != nil {
		return err
	}
	return f.Look(func(event.Entry) error { return nil })
}

// End prints what is left once the job is over.
func (f *Follower) End() error {
	if err := f.Look(); err != nil {
		return err
	}
	return f.printer.Rest()
}
