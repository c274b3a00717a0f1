package rundir

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// lookEvery is how often a process that is not told of records looks at a journal for further events.
const lookEvery = 50 * time.Millisecond

// Events calls each for the events of a run from that number on, as they happen, until the run is over. told is called
// when all that have happened are told, with whether a coordinator has begun the run and it is not over; then more waits until
// there may be further ones, as Poll does. An error of either ends the call.
func Events(ctx context.Context, r statedir.Run, from int64, each func(report.Event) error, told func(goesOn bool) error,
	more func(context.Context) error) error {
	d, err := Open(r)
	if err != nil {
		return err
	}
	events := report.NewEvents(Info(r, d), func(e report.Event) error {
		if e.Seq < from {
			return nil
		}
		return each(e)
	})
	for at := int64(0); ; {
		at, err = journal.Since(r.Journal(), at, events.Apply)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the run has not begun
			return err
		}
		over := events.Job.State().Final()
		if err := told(at > 0 && !over); err != nil || over {
			return err
		}
		if err := more(ctx); err != nil {
			return err
		}
	}
}

// Poll waits until it is time to look at a journal again.
func Poll(ctx context.Context) error {
	select {
	case <-time.After(lookEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
