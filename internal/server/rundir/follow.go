package rundir

import (
	"errors"
	"io/fs"

	"berth/internal/core/event"
	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// Follower folds a run's journal as it grows. It is not safe for concurrent use.
type Follower struct {
	Run     statedir.Run
	Decided *Decided    // when the run began
	Info    report.Info // of the fold
	Fold    *report.Job

	at    int64 // how far the journal was read
	begun bool  // it has entries
}

// Follow returns the follower of a run from its beginning, with the info that set completes.
func Follow(r statedir.Run, set func(*report.Info)) (*Follower, error) {
	d, err := Open(r)
	if err != nil {
		return nil, err
	}
	return FollowDecided(r, d, set), nil
}

// FollowDecided does the same for a run whose folder was read.
func FollowDecided(r statedir.Run, d *Decided, set func(*report.Info)) *Follower {
	f := &Follower{Run: r, Decided: d, Info: Info(r, d)}
	set(&f.Info)
	f.Fold = report.New(f.Info)
	return f
}

// Look folds the entries since the last call, and calls each after every one, until it returns io.EOF, which leaves the rest to the next
// call. A run that the coordinator has not begun has no entries.
func (f *Follower) Look(each func(event.Entry) error) error {
	at, err := journal.Since(f.Run.Journal(), f.at, func(e event.Entry) error {
		f.begun = true
		f.Fold.Apply(e)
		return each(e)
	})
	f.at = at
	if errors.Is(err, fs.ErrNotExist) && !f.begun { // else the run was removed meanwhile
		return nil
	}
	return err
}
